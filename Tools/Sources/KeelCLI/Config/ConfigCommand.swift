import ArgumentParser
import Foundation
import KeelToolSupport

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows the settings of commands and where they come from.",
        subcommands: [ConfigShowCommand.self]
    )
}

struct ConfigShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists every setting with its value and where that comes from.",
        discussion: """
            The command line has precedence over variables, variables over the file, and the file over \
            the defaults. With a command line, such as keel config show serve --port 0, it shows the \
            settings of that command. Secrets are not shown.
            """
    )

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    @Argument(parsing: .allUnrecognized, help: "A command with its arguments.")
    var command: [String] = []

    /// The name of the first command.
    private var group: String? {
        (try? ConfiguredLine.command(of: command))?.names.first ?? command.first
    }

    func validate() throws {
        let known = Set(Setting.all.map(\.command)).sorted()
        guard let name = group, !known.contains(name) else { return }
        throw ValidationError(
            "“\(name)” has no settings. Those that have: \(known.joined(separator: ", "))."
        )
    }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        var held: [Settings.Resolved] = []
        var spellings: [String: [String]]?
        // Wrong settings are a wrong command line, as for the commands that use them.
        try await output.reporting(failure: .usage) {
            let named = try ConfiguredLine.command(of: command)
            spellings = try ConfiguredLine.spellings(of: named.type)
            held = try ConfiguredLine.settings().resolved(
                for: named.names + command.dropFirst(named.names.count),
                spellings: spellings
            )
            return .done
        }
        try await output.reporting {
            let (help, group) = (try CommandHelp(of: KeelCommand.self), group)
            for setting in Setting.all where group == nil || group == setting.command {
                guard spellings == nil || spellings?[setting.option] != nil else { continue }
                let resolved = held.first { $0.setting == setting }
                let foreign = resolved == nil ? foreignVariable(of: setting, beside: held) : nil
                let described = help.subcommands?.first { $0.commandName == setting.command }
                let given = resolved?.values.joined(separator: ", ") ?? foreign?.value
                let origin = resolved?.source.description ?? foreign.map { "variable \($0.name)" }
                let line = Line(
                    setting: "\(setting.command).\(setting.option)",
                    value: given.map { Passwords.hidden(in: $0) }
                        ?? described?.defaultValue(of: setting.option),
                    source: origin ?? "default"
                )
                try write(line, to: output)
            }
            for name in Setting.secretVariables {
                let isSet = ProcessInfo.processInfo.environment[name]?.isEmpty == false
                let line = Line(
                    setting: name,
                    value: isSet ? "(set, not shown)" : nil,
                    source: isSet ? "variable \(name)" : "default"
                )
                try write(line, to: output)
            }
            return .done
        }
    }

    /// Returns the variable of another tool that the command uses for a setting.
    private func foreignVariable(
        of setting: Setting,
        beside held: [Settings.Resolved]
    ) -> (name: String, value: String)? {
        // R2 has no use for the regions of AWS.
        let isR2 = held.contains { $0.setting.option == "provider" && $0.values == ["r2"] }
        guard setting.option != "region" || !isR2 else { return nil }
        let environment = ProcessInfo.processInfo.environment
        for name in setting.foreignVariables {
            if let value = environment[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }

    private func write(_ line: Line, to output: CommandOutput) throws {
        guard !json else { return try output.record(line) }
        try output.line("\(line.setting) = \(line.value ?? "(none)")  # \(line.source)")
    }

    private struct Line: Encodable {
        let setting: String
        let value: String?
        let source: String
    }
}
