import ArgumentParser
import Foundation
import KeelToolSupport

/// A command line with the options that variables and files add to it.
struct ConfiguredLine {
    /// The arguments for the parser.
    let arguments: [String]
    /// The added options.
    let added: [Settings.Resolved]

    /// Reads a command line, and the settings that hold for it.
    ///
    /// - Throws: `ToolError` for an unknown command, or for invalid settings.
    init(_ given: [String]) throws {
        var words = given
        if let first = words.first, first == "--profile" || first.hasPrefix("--profile=") {
            var name = String(first.dropFirst("--profile=".count))
            words.removeFirst()
            if first == "--profile" { name = words.isEmpty ? "" : words.removeFirst() }
            guard !name.isEmpty else {
                throw ToolError(
                    "--profile has no name",
                    advice: "Write keel --profile NAME COMMAND."
                )
            }
            // The commands and the programs that they start read it from there.
            setenv("KEEL_PROFILE", name, 1)
        }
        try Self.checkCommand(words)
        guard !Self.asksForHelp(words), Setting.all.contains(where: { $0.command == words.first })
        else {
            arguments = words
            added = []
            return
        }
        let (index, options) = try Self.settings().additions(to: words)
        words.insert(contentsOf: options.flatMap(\.arguments), at: min(index, words.count))
        arguments = words
        added = options
    }

    /// The settings that hold here.
    static func settings() throws -> Settings {
        try Settings(
            profile: nil,
            folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// Returns remarks that complete the message of a failed command line: the origins of options, and the settings
    /// that could give a missing one.
    func remarks(on message: String) -> [String] {
        // An unknown option may only resemble an added one.
        let options = added.filter {
            message.contains("--\($0.setting.option)") && !message.contains("Unknown option")
        }
        let origins = options.map {
            "--\($0.setting.option) is not on the command line, but from: \($0.source)"
        }
        let missing = Setting.all.first {
            $0.command == arguments.first
                && message.contains("Missing expected argument '--\($0.option) ")
        }
        return origins
            + (missing.map {
                [
                    "To give it once: set \($0.variable), or write \($0.option) = \"…\" in "
                        + "keel.toml."
                ]
            } ?? [])
    }

    private static func asksForHelp(_ words: [String]) -> Bool {
        let options = words.prefix { $0 != "--" }
        return options.contains {
            ["-h", "--help", "--help-hidden", "--version", "--experimental-dump-help"].contains($0)
                || $0.hasPrefix("--generate-completion-script")
        }
    }

    /// Refuses an unknown command, and suggests a similar one.
    private static func checkCommand(_ words: [String]) throws {
        var command: any ParsableCommand.Type = KeelCommand.self
        var path = "keel"
        for word in words {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, command.configuration.defaultSubcommand == nil,
                !word.hasPrefix("-"), word != "help"
            else { return }
            let next = commands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else {
                let names = commands.compactMap { $0.configuration.commandName }
                let near = Spelling.nearest(to: word, of: names)
                    .map { "Did you mean \(path) \($0)? " }
                throw ToolError(
                    "\(path) has no command “\(word)”",
                    advice: "\(near ?? "")\(path) --help lists the commands."
                )
            }
            command = next
            path += " \(word)"
        }
    }
}
