import ArgumentParser
import Foundation
import KeelSecrets
import KeelSecurityTools
import KeelToolSupport

struct SecretsMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Moves a service's secrets to another store: copies, verifies, then deletes.",
        discussion: """
            It can be repeated after an interruption. If the target has another secret under a key, \
            both stores keep theirs, and the exit code is 2.
            """
    )

    @OptionGroup var secrets: SecretOptions

    @Option(
        help: "The store to move to: platform or file:FOLDER.",
        completion: .list(["platform", "file:"])
    )
    var to: SecretPlace

    @Option(help: "The service in the target, if it has another name.")
    var toService: String?

    @Option(
        help: "For a file there: a file of 32 bytes that only its owner may read.",
        completion: .file()
    )
    var toKeyFile: String?

    @Option(help: "For a file there: an environment variable with the key.")
    var toKeyVariable: String?

    @Option(help: "For a file there: an environment variable with the passphrase.")
    var toPassphraseVariable: String?

    private var thereChoice: SecretKeyChoice {
        SecretKeyChoice(
            source: KeySourceChoice(file: toKeyFile, variable: toKeyVariable),
            passphrase: toPassphraseVariable.map { PassphraseSource(variable: $0) }
        )
    }

    func validate() throws {
        guard thereChoice.count <= 1 else {
            throw ValidationError(
                "Name one source of the key of the file there: --to-key-file, --to-key-variable or "
                    + "--to-passphrase-variable."
            )
        }
    }

    func run() async throws {
        try await secrets.output.reporting {
            let destination = try await to.open(
                service: toService ?? secrets.service,
                thereChoice,
                isWritten: true,
                options: "--to-key-file, --to-key-variable or --to-passphrase-variable"
            )
            let report = try await secrets.open().migrate(to: destination)
            if secrets.json {
                try secrets.output.record([
                    "moved": report.moved, "present": report.alreadyPresent,
                    "conflicting": report.conflicting,
                ])
            } else {
                try secrets.output.line(
                    "\(report.moved.count) moved, \(report.alreadyPresent.count) there already"
                )
                for key in report.conflicting {
                    secrets.output.message(
                        "\(key): another secret is there, or it was changed meanwhile; it was not moved"
                    )
                }
            }
            return report.conflicting.isEmpty ? .done : .findings
        }
    }
}
