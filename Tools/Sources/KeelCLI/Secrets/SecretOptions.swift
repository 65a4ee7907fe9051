import ArgumentParser
import KeelSecrets
import KeelSecurityTools

extension SecretPlace: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// The location of the key of an encrypted file of secrets.
struct SecretFileKeyOptions: ParsableArguments {
    @Option(
        help: "For file: a file of 32 bytes that only its owner may read; `set` makes it.",
        completion: .file()
    )
    var keyFile: String?

    @Option(help: "For file: an environment variable with 64 hexadecimal digits or base64.")
    var keyVariable: String?

    @Option(help: "For file: a credential that systemd hands to the service.")
    var keyCredential: String?

    @Flag(name: .shortAndLong, help: "For file: a passphrase, asked for at the terminal.")
    var passphrase = false

    @OptionGroup var passphraseOptions: PassphraseOptions

    /// The environment variables that contain the key or the passphrase.
    var variables: [String] {
        [keyVariable, passphraseOptions.passphraseVariable].compactMap { $0 }
    }

    var choice: SecretKeyChoice {
        SecretKeyChoice(
            source: KeySourceChoice(
                file: keyFile,
                variable: keyVariable,
                credential: keyCredential
            ),
            passphrase: passphrase || passphraseOptions.isGiven ? passphraseOptions.source : nil
        )
    }

    func validate() throws {
        try Parsed.requireFile(keyFile, "The key")
        guard choice.count <= 1 else {
            throw ValidationError(
                "Name one source of the file's key: --key-file, --key-variable, "
                    + "--key-credential or --passphrase."
            )
        }
    }
}

/// A service's secrets in a store.
struct SecretOptions: ParsableArguments {
    @Option(help: "The service whose secrets they are, usually the app's identifier.")
    var service: String

    @Option(
        help: "The store: platform, file:FOLDER or env:PREFIX.",
        completion: .list(["platform", "file:", "env:"])
    )
    var store = SecretPlace.platform

    @OptionGroup var key: SecretFileKeyOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var output: CommandOutput { CommandOutput(isJSON: json) }

    /// Opens the store, as `SecretPlace` does.
    func open(isWritten: Bool = false) async throws -> SecretStore {
        try await store.open(service: service, key.choice, isWritten: isWritten)
    }
}
