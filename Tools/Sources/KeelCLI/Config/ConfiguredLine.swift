import ArgumentParser
import Foundation
import KeelToolSupport

/// A command line with the options that variables and files add to it.
struct ConfiguredLine {
    /// The arguments for the parser.
    let arguments: [String]
    let added: [Settings.Resolved]
    /// The first command, by its name even if the command line has an alias; nil without one.
    private let group: String?

    /// Completes a command line with its settings.
    ///
    /// - Throws: `ToolError` for an unknown command, a `--profile` without a name or unknown, or invalid settings.
    init(_ given: [String]) throws {
        var words = given
        try Self.takeProfile(from: &words)
        let (command, names) = try Self.command(of: words)
        let depth = names.count
        group = names.first
        let hasSettings = Setting.all.contains { $0.command == names.first }
        let profile = ProcessInfo.processInfo.environment["KEEL_PROFILE"] ?? ""
        let asksForHelp = try Self.asksForHelp(words, of: command)
        guard !asksForHelp, depth > 0, hasSettings || !profile.isEmpty else {
            arguments = words
            added = []
            return
        }
        let settings = try Self.settings()
        var held: [Settings.Resolved] = []
        if hasSettings, let spellings = try Self.spellings(of: command) {
            held = try settings.resolved(
                for: names + words.dropFirst(depth),
                spellings: spellings
            )
        }
        added = held.filter { $0.source != .flag }
        words.insert(contentsOf: added.flatMap(\.arguments), at: depth)
        arguments = words
    }

    /// Removes each `--profile` before `--`, and sets `KEEL_PROFILE` to the last one.
    private static func takeProfile(from words: inout [String]) throws {
        var index = 0
        while words.indices.contains(index), words[index] != "--" {
            let word = words[index]
            // The arguments of keel-lint are its own.
            if word == "lint", words[..<index].allSatisfy({ $0.hasPrefix("-") }) { return }
            guard word == "--profile" || word.hasPrefix("--profile=") else {
                index += 1
                continue
            }
            words.remove(at: index)
            var name = String(word.dropFirst("--profile=".count))
            if word == "--profile", words.indices.contains(index), !words[index].hasPrefix("-") {
                name = words.remove(at: index)
            }
            guard !name.isEmpty else {
                throw ToolError(
                    "--profile has no name",
                    advice: "Write keel --profile NAME COMMAND."
                )
            }
            // The commands and the programs that they start read it from there.
            setenv("KEEL_PROFILE", name, 1)
        }
    }

    /// Returns the options of a command by name with their spellings; nil for a group of commands.
    static func spellings(of command: any ParsableCommand.Type) throws -> [String: [String]]? {
        guard command.configuration.subcommands.isEmpty else { return nil }
        return try CommandHelp(of: command).spellings
    }

    /// Reads the settings of the current folder.
    static func settings() throws -> Settings {
        try Settings(
            profile: nil,
            folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath),
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// Returns remarks on the message of a failed command line: the origins of its options, and the settings for a
    /// missing one.
    func remarks(on message: String) -> [String] {
        // An unknown option may only resemble an added one.
        let options = added.filter {
            message.contains("--\($0.setting.option)") && !message.contains("Unknown option")
        }
        let origins = options.map {
            "--\($0.setting.option) is not on the command line, but from: \($0.source)"
        }
        let missing = Setting.all.first {
            $0.command == group
                && message.contains("Missing expected argument '--\($0.option) ")
        }
        return origins
            + (missing.map {
                [
                    "To give it once: set \($0.variable), or write \($0.option) = \"…\" in "
                        + "keel.toml\($0.isOwn ? ", below [\($0.command)]" : "")."
                ]
            } ?? [])
    }

    private static func asksForHelp(
        _ words: [String],
        of command: any ParsableCommand.Type
    ) throws -> Bool {
        let options = words.prefix { $0 != "--" }
        if options.contains("-h") {
            // As du, keel files du means something else by it.
            let own = try spellings(of: command)?.filter { $0.key != "help" } ?? [:]
            if !own.values.contains(where: { $0.contains("-h") }) { return true }
        }
        return options.contains {
            ["--help", "--help-hidden", "--version", "--experimental-dump-help"].contains($0)
                || $0.hasPrefix("--generate-completion-script")
        }
    }

    /// Returns the command of a command line, and the names of its groups and its own, also for aliases.
    ///
    /// - Throws: `ToolError` for an unknown command, which suggests a similar one.
    static func command(
        of words: [String]
    ) throws -> (type: any ParsableCommand.Type, names: [String]) {
        var command: any ParsableCommand.Type = KeelCommand.self
        var names: [String] = []
        for word in words {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, command.configuration.defaultSubcommand == nil,
                !word.hasPrefix("-"), word != "help"
            else { return (command, names) }
            let next = commands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else {
                let path = (["keel"] + names).joined(separator: " ")
                let known = commands.compactMap { $0.configuration.commandName }
                let near = Spelling.nearest(to: word, of: known)
                    .map { "Did you mean \(path) \($0)? " }
                throw ToolError(
                    "\(path) has no command “\(word)”",
                    advice: "\(near ?? "")\(path) --help lists the commands.",
                    exit: .usage
                )
            }
            command = next
            names.append(next.configuration.commandName ?? word)
        }
        return (command, names)
    }
}
