import ArgumentParser
import Foundation
import KeelSecrets
import KeelSecurityTools
import KeelToolSupport

struct SecretsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets",
        abstract: "Stores and reads secrets, in the platform's store or in an encrypted file.",
        discussion: """
            Secrets are never on the command line, which other users of the machine can see: `set` \
            reads standard input, or asks without echo.

                keel secrets set api-token --service com.example.notes
                keel secrets exec --service com.example.notes -- ./deploy
            """,
        subcommands: [
            SecretsSetCommand.self, SecretsGetCommand.self, SecretsListCommand.self,
            SecretsDeleteCommand.self, SecretsExecCommand.self, SecretsServicesCommand.self,
            SecretsMigrateCommand.self, SecretsDoctorCommand.self,
        ]
    )
}

struct SecretsSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Stores a secret, and replaces an existing one."
    )

    @Argument(help: "The key of the secret, such as api-token.")
    var key: String

    @OptionGroup var secrets: SecretOptions

    func validate() throws { try secrets.key.passphraseOptions.validate("-") }

    func run() async throws {
        try await secrets.output.reporting {
            // Before the store, so that empty input makes neither a store nor a key.
            let given = try isatty(STDIN_FILENO) == 1 ? nil : secret()
            let store = try await secrets.open(isWritten: true)
            try await store.save(given ?? secret(), forKey: key)
            return .done
        }
    }

    private func secret() throws -> Data {
        try SecretPrompt.secret("Secret", limit: SecretStore.maximumByteCount)
    }
}

struct SecretsGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Writes a secret to standard output, byte for byte.",
        discussion: "At a terminal, a line end follows."
    )

    @Argument(help: "The key of the secret, such as api-token.")
    var key: String

    @OptionGroup var secrets: SecretOptions

    func run() async throws {
        try await secrets.output.reporting {
            let secret = try await secrets.open().load(forKey: key)
            if secrets.json {
                let text = String(validating: secret, as: UTF8.self)
                try secrets.output.record(
                    text.map { ["text": $0] } ?? ["base64": secret.base64EncodedString()]
                )
            } else {
                try StandardOutput.write(secret)
                if isatty(STDOUT_FILENO) == 1 { try secrets.output.line("") }
            }
            return .done
        }
    }
}

struct SecretsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys of a service, without their secrets.",
        aliases: ["ls"]
    )

    @OptionGroup var secrets: SecretOptions

    func run() async throws {
        try await secrets.output.reporting {
            for key in try await secrets.open().list() {
                if secrets.json {
                    try secrets.output.record(["key": key])
                } else {
                    try secrets.output.line(key)
                }
            }
            return .done
        }
    }
}

struct SecretsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a secret; the exit code is 2 if there is none.",
        aliases: ["rm"]
    )

    @Argument(help: "The key of the secret, such as api-token.")
    var key: String

    @OptionGroup var secrets: SecretOptions

    func run() async throws {
        try await secrets.output.reporting {
            let store = try await secrets.open()
            let isThere = try await store.exists(forKey: key)
            try await store.delete(forKey: key)
            guard isThere else {
                secrets.output.failure(
                    ToolError(
                        "there was no secret “\(key)”",
                        advice: "Check the key; keel secrets list lists the keys."
                    )
                )
                return .findings
            }
            return .done
        }
    }
}

struct SecretsServicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "services",
        abstract: "Lists the services that have secrets in an encrypted file.",
        discussion: "The platform's store does not say which of its secrets are Keel's."
    )

    @Option(help: "The store: file:FOLDER.", completion: .list(["file:"]))
    var store: SecretPlace

    @OptionGroup var key: SecretFileKeyOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        guard case .file = store else {
            throw ValidationError("Only an encrypted file lists its services: --store file:FOLDER.")
        }
    }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            for service in try await store.services(key.choice) {
                if json {
                    try output.record(["service": service])
                } else {
                    try output.line(service)
                }
            }
            return .done
        }
    }
}
