import ArgumentParser
import Foundation
import KeelCore
import KeelSecurity
import KeelSecurityTools

/// The location of the key that encrypts a keyset, and the context of the keyset.
struct KeySourceOptions: ParsableArguments {
    @Option(
        help: "A file of 32 bytes that only its owner may read; `create` makes it.",
        completion: .file()
    )
    var keyFile: String?

    @Option(help: "An environment variable with 64 hexadecimal digits or base64.")
    var keyVariable: String?

    @Option(help: "A credential that systemd hands to the service.")
    var keyCredential: String?

    @Option(help: "A service in the desktop's Secret Service, or in the Keychain.")
    var keyService: String?

    @Option(help: "What the keyset belongs to, if it was given when it was made.")
    var keysetContext = ""

    func validate() throws { try Parsed.requireFile(keyFile, "The key") }

    var choice: KeySourceChoice {
        KeySourceChoice(
            file: keyFile,
            variable: keyVariable,
            credential: keyCredential,
            service: keyService
        )
    }

    func keyset(at path: String, createsIfMissing: Bool = false) async throws -> KeysetFile {
        KeysetFile(
            at: URL(filePath: path),
            under: try await choice.source(createsIfMissing: createsIfMissing),
            associatedData: Data(keysetContext.utf8)
        )
    }

    /// Refuses a keyset without exactly one source of its key, and a source without a keyset.
    func check(for keyset: String?) throws {
        try Parsed.requireFile(keyset, "A keyset")
        if keyset != nil {
            try requireOne()
        } else if choice.count > 0 {
            throw ValidationError("Name the keyset that the key is for with --keyset.")
        }
    }

    /// Refuses a command line without exactly one source.
    func requireOne() throws {
        guard choice.count == 1 else {
            throw ValidationError(
                "Name one source of the key: --key-file, --key-variable, --key-credential or "
                    + "--key-service."
            )
        }
    }
}

/// The keyset with which an app seals its journal.
struct JournalKeyOptions: ParsableArguments {
    @Option(help: "The file of the keyset that a journal is sealed with.", completion: .file())
    var keyset: String?

    @OptionGroup var key: KeySourceOptions

    func validate() throws { try key.check(for: keyset) }

    /// Opens the keyset for reading; nil if no keyset is named.
    func sealing() async throws -> (any ByteSealing)? {
        guard let keyset else { return nil }
        return KeyRing(try await key.keyset(at: keyset).load())
    }
}
