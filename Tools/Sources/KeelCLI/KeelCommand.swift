import ArgumentParser
import Foundation
import KeelToolSupport

@main
struct KeelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel",
        abstract: "Tools of Keel, the infrastructure layer of Swift apps.",
        discussion: """
            Options that a command line does not name come from variables such as KEEL_STORAGE, then \
            from keel.toml in this folder or one above it, or from ~/.config/keel/config.toml. keel \
            config show lists each value with its origin.
            """,
        version: BuildVersion.text,
        subcommands: [
            InitCommand.self, LintCommand.self, DoctorCommand.self, ServeCommand.self,
            DocumentsCommand.self, StorageCommand.self, FilesCommand.self, LogsCommand.self,
            AnalyticsCommand.self, SecretsCommand.self, KeysetCommand.self, EncryptCommand.self,
            DecryptCommand.self,
            ProxyCommand.self, ConfigCommand.self,
        ]
    )

    /// The beginning of the parser's errors.
    static let _errorPrefix = "keel: "

    /// Only for the help: ``ConfiguredLine`` takes it before the parser sees the command line.
    @Option(
        help: ArgumentHelp(
            "The profile of keel.toml to use; KEEL_PROFILE if it is not given.",
            valueName: "name"
        )
    )
    var profile: String?

    @concurrent
    static func main() async {
        StandardOutput.reserveClosedStreams()
        let line: ConfiguredLine
        do {
            try requireText()
            line = try ConfiguredLine(Array(CommandLine.arguments.dropFirst()))
        } catch {
            CommandOutput(isJSON: CommandLine.arguments.contains("--json")).failure(error)
            exit(withError: ExitCode(ToolExit.usage.rawValue))
        }
        do {
            var command = try await asyncParseAsRoot(line.arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let remarks = line.remarks(on: message(for: error))
            let options = line.arguments.prefix { $0 != "--" }
            // A command that ends with a code has written its error.
            if options.contains("--json"), exitCode(for: error) == .validationFailure,
                !(error is ExitCode)
            {
                let advice = remarks + ["keel --help shows the arguments of a command."]
                CommandOutput(isJSON: true).failure(
                    ToolError(message(for: error), advice: advice.joined(separator: " "))
                )
                Foundation.exit(ToolExit.usage.rawValue)
            }
            for remark in remarks { CommandOutput(isJSON: false).message(remark) }
            let text = fullMessage(for: error)
            guard !Passwords.isContained(in: text) else {
                // The parser quotes the values that it refuses.
                CommandOutput(isJSON: false).message(text)
                Foundation.exit(exitCode(for: error).rawValue)
            }
            exit(withError: error)
        }
    }

    /// Refuses arguments that are not UTF-8: Swift would replace their bytes by `�`.
    private static func requireText() throws {
        for (index, text) in CommandLine.arguments.enumerated().dropFirst() {
            guard let bytes = CommandLine.unsafeArgv[index] else { return }
            let word = UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
            guard String(validatingCString: word) == nil else { continue }
            throw ToolError(
                "the argument “\(text)” is not UTF-8",
                advice: "Use a terminal with UTF-8, and rename a file whose name is not UTF-8."
            )
        }
    }
}
