import ArgumentParser
import KeelSecurityTools
import KeelToolSupport

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
