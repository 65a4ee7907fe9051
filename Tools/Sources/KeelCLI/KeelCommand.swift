import ArgumentParser

/// Keel on the command line.
@main
struct KeelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel",
        abstract: "Tools of Keel, the infrastructure layer of Swift apps.",
        subcommands: [
            InitCommand.self, LintCommand.self, DoctorCommand.self, ServeCommand.self,
            DocumentsCommand.self, FilesCommand.self, LogsCommand.self, AnalyticsCommand.self,
            SecretsCommand.self, KeysetCommand.self, EncryptCommand.self, DecryptCommand.self,
            ProxyCommand.self,
        ]
    )
}
