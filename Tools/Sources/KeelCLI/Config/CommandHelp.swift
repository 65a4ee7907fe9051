import ArgumentParser
import Foundation

/// A command as the parser describes it, with its options and the commands below it.
struct CommandHelp: Decodable {
    let commandName: String
    let subcommands: [CommandHelp]?
    let arguments: [Argument]?

    struct Argument: Decodable {
        let names: [Name]?
        let defaultValue: String?
    }

    struct Name: Decodable {
        let kind: String
        let name: String

        var spelling: String { kind == "long" ? "--\(name)" : "-\(name)" }
    }

    private struct Help: Decodable {
        let command: CommandHelp
    }

    init(of command: any ParsableCommand.Type) throws {
        self = try JSONDecoder().decode(Help.self, from: Data(command._dumpHelp().utf8)).command
    }

    /// The options by name, with all their spellings, such as `-r` and `--recipient`.
    var spellings: [String: [String]] {
        var spellings: [String: [String]] = [:]
        for names in (arguments ?? []).compactMap(\.names) {
            for name in names where name.kind == "long" {
                spellings[name.name] = names.map(\.spelling)
            }
        }
        return spellings
    }

    /// Returns the default value of an option of the command or of a subcommand.
    func defaultValue(of option: String) -> String? {
        let argument = arguments?.first { argument in
            argument.names?.contains { $0.name == option } == true
        }
        guard argument == nil else { return argument?.defaultValue }
        return subcommands?.lazy.compactMap { $0.defaultValue(of: option) }.first
    }
}
