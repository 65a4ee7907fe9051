import ArgumentParser
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport

struct KeysetRewrapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rewrap",
        abstract: "Encrypts a keyset under another key; the keys in it stay as they are.",
        discussion: """
            First give both keys to all programs that use the keyset. An attacker with the old key \
            and a copy of the old file has its keys: after a leak, rotate the keyset, too.
            """
    )

    @OptionGroup var keyset: KeysetOptions
    @OptionGroup var next: NewKeySourceOptions

    func run() async throws {
        try await keyset.output.reporting {
            let source = try await next.choice.source(createsIfMissing: true)
            try await keyset.file().rewrap(under: source)
            let moved = KeysetFile(
                at: URL(filePath: keyset.keyset),
                under: source,
                associatedData: Data(keyset.key.keysetContext.utf8)
            )
            try KeysetTable(try await moved.load()).show(keyset.output)
            return .done
        }
    }
}

/// The location of the key that will encrypt the keyset.
struct NewKeySourceOptions: ParsableArguments {
    @Option(
        help: "The new key: a file of 32 bytes, made if it is missing.",
        completion: .file()
    )
    var newKeyFile: String?

    @Option(help: "The new key: a variable with 64 hexadecimal digits or base64.")
    var newKeyVariable: String?

    @Option(help: "The new key: a credential that systemd hands to the service.")
    var newKeyCredential: String?

    @Option(help: "The new key: a service in the Secret Service, or in the Keychain.")
    var newKeyService: String?

    var choice: KeySourceChoice {
        KeySourceChoice(
            file: newKeyFile,
            variable: newKeyVariable,
            credential: newKeyCredential,
            service: newKeyService
        )
    }

    func validate() throws {
        try Parsed.requireFile(newKeyFile, "The new key")
        guard choice.count == 1 else {
            throw ValidationError(
                "Name one source of the new key: --new-key-file, --new-key-variable, "
                    + "--new-key-credential or --new-key-service."
            )
        }
    }
}
