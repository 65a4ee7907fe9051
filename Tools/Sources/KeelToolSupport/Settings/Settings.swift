package import Foundation

/// The settings that hold for a command line: flags, then variables, then the file.
package struct Settings: Sendable {
    /// The origin of a value.
    package enum Source: Hashable, Sendable, CustomStringConvertible {
        case flag
        case variable(String)
        case file(String, line: Int)

        package var description: String {
            switch self {
            case .flag: "command line"
            case .variable(let name): "variable \(name)"
            case .file(let name, let line): "\(name):\(line)"
            }
        }
    }

    /// A setting that has a value.
    package struct Resolved: Hashable, Sendable {
        package let setting: Setting
        /// One value, those of a list, or true or false of a flag.
        package let values: [String]
        package let source: Source
    }

    private let file: SettingsFile?
    private let profile: String?
    private let environment: [String: String]

    /// Finds the settings.
    ///
    /// - Parameters:
    ///   - profile: The profile that the command line names; nil takes `KEEL_PROFILE`.
    ///   - folder: The folder to look for `keel.toml` in, and above.
    ///   - environment: The variables.
    /// - Throws: ``ToolError`` for an invalid file, and for an unknown profile.
    package init(
        profile: String?,
        folder: URL,
        environment: [String: String]
    ) throws {
        file = try SettingsFile.found(in: folder, environment: environment)
        let named = profile ?? environment["KEEL_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        self.profile = named
        self.environment = environment
        guard let named else { return }
        guard let file else {
            throw ToolError(
                "there is no keel.toml with the profile “\(named)”",
                advice: "Write a keel.toml with the table [profile.\(named)], or name no profile."
            )
        }
        guard file.profiles.contains(named) else {
            let known = file.profiles.sorted().joined(separator: ", ")
            throw ToolError(
                "\(file.name) has no profile “\(named)”",
                advice: known.isEmpty
                    ? "Add the table [profile.\(named)]." : "Its profiles are: \(known)."
            )
        }
    }

    /// Returns the value of a setting that the command line does not name; nil for its default.
    package func resolved(_ setting: Setting) throws -> Resolved? {
        // An empty variable counts as unset.
        if let text = environment[setting.variable], !text.isEmpty {
            if setting.kind == .flag, !["true", "false"].contains(text) {
                throw ToolError(
                    "the variable \(setting.variable) is “\(text)”",
                    advice: "It takes true or false."
                )
            }
            let source = Source.variable(setting.variable)
            return Resolved(setting: setting, values: [text], source: source)
        }
        guard let file, let entry = file.entry(for: setting, profile: profile),
            let values = setting.texts(of: entry.value)
        else { return nil }
        let source = Source.file(file.name, line: entry.line)
        return Resolved(setting: setting, values: values, source: source)
    }

    /// Returns the effective value of a setting for a command line.
    package func resolved(_ setting: Setting, in arguments: [String]) throws -> Resolved? {
        let given = Self.values(of: setting, in: arguments)
        guard given.isEmpty else {
            return Resolved(setting: setting, values: given, source: .flag)
        }
        return try resolved(setting)
    }

    /// The settings that a command line does not name, as options to be added.
    ///
    /// - Parameter arguments: The command and its arguments.
    /// - Returns: Where the options belong, and what they are.
    /// - Throws: ``ToolError`` for a variable that the option does not take.
    package func additions(
        to arguments: [String]
    ) throws -> (index: Int, options: [Resolved]) {
        guard let command = arguments.first else { return (0, []) }
        let settings = Setting.all.filter { $0.command == command }
        let below = arguments.dropFirst().first
        let fitting = settings.filter {
            $0.subcommands.isEmpty || $0.subcommands.contains(below ?? "")
        }
        let isGroup = fitting.contains { !$0.subcommands.isEmpty }
        let options = try fitting.compactMap { setting -> Resolved? in
            let resolved = try resolved(setting, in: arguments)
            return resolved?.source == .flag ? nil : resolved
        }
        return (isGroup ? 2 : 1, options)
    }

    /// Returns the value of an option on the command line; “true” for a flag.
    private static func values(of setting: Setting, in arguments: [String]) -> [String] {
        let name = "--\(setting.option)"
        let words = Array(arguments.prefix { $0 != "--" })
        return words.indices.compactMap { index -> String? in
            if words[index].hasPrefix("\(name)=") {
                return String(words[index].dropFirst(name.count + 1))
            }
            guard words[index] == name else { return nil }
            guard setting.kind != .flag else { return "true" }
            return words.indices.contains(index + 1) ? words[index + 1] : ""
        }
    }
}

extension Settings.Resolved {
    /// The words of a command line that say the same.
    package var arguments: [String] {
        guard setting.kind == .flag else { return values.map { "--\(setting.option)=\($0)" } }
        return values == ["true"] ? ["--\(setting.option)"] : []
    }
}
