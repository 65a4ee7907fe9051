package import Foundation

/// The settings of a command line: its options take precedence over variables, a profile, and the rest of the file.
package struct Settings: Sendable {
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

    fileprivate enum Rank: Comparable {
        case file, profile, variable, flag
    }

    package struct Resolved: Hashable, Sendable {
        package let setting: Setting
        /// One value, those of a list, or true or false of a flag.
        package let values: [String]
        package let source: Source
        fileprivate let rank: Rank
    }

    private let file: SettingsFile?
    private let profile: String?
    private let environment: [String: String]

    /// Reads the file that applies to a folder; the profile is `profile`, or else that of `KEEL_PROFILE`.
    ///
    /// - Throws: ``ToolError`` for a file that cannot be read or is invalid, and for an unknown profile.
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

    /// Returns the values that apply to a command line, without those of defaults.
    ///
    /// - Parameters:
    ///   - words: The command and its arguments.
    ///   - spellings: The names of the command's options with all their spellings, such as `-r`; nil for a group of
    ///     commands.
    /// - Returns: The values of the command line, and those to be added to it.
    /// - Throws: ``ToolError`` for a variable that is not UTF-8, or one of a flag that is neither `true` nor `false`.
    package func resolved(
        for words: [String],
        spellings: [String: [String]]?
    ) throws -> [Resolved] {
        let words = Array(words.prefix { $0 != "--" })
        let settings = Setting.all.filter { words.isEmpty || $0.command == words[0] }
        guard let spellings else { return try settings.compactMap { try value(of: $0) } }
        let given = spellings.mapValues { names in Self.values(of: names, in: words) }
            .filter { !$0.value.isEmpty }
        let below = words.dropFirst().first ?? ""
        let fitting = settings.filter { setting in
            spellings[setting.option] != nil
                && (setting.subcommands.isEmpty || setting.subcommands.contains(below))
        }
        let found = try fitting.compactMap { setting -> Resolved? in
            guard let values = given[setting.option] else { return try value(of: setting) }
            return Resolved(
                setting: setting,
                values: setting.kind == .flag ? ["true"] : values,
                source: .flag,
                rank: .flag
            )
        }
        // Of alternative options, those with the highest precedence apply.
        let holding = found.filter { one in
            one.rank == .flag
                || !one.setting.alternatives.contains { given[$0] != nil }
                    && !found.contains {
                        one.setting.alternatives.contains($0.setting.option) && $0.rank > one.rank
                    }
        }
        return holding.filter { one in
            guard one.rank != .flag, let companion = one.setting.companion else { return true }
            return holding.contains { $0.setting.option == companion }
        }
    }

    private func value(of setting: Setting) throws -> Resolved? {
        // An empty variable counts as unset.
        if let text = environment[setting.variable], !text.isEmpty {
            // Swift replaces bytes that are not UTF-8, and the value would become another one.
            guard !text.unicodeScalars.contains("\u{FFFD}") else {
                throw ToolError(
                    "the variable \(setting.variable), “\(text)”, is not UTF-8",
                    advice: "Set it in a terminal with UTF-8, or unset it."
                )
            }
            if setting.kind == .flag, !["true", "false"].contains(text) {
                throw ToolError(
                    "the variable \(setting.variable) is “\(text)”",
                    advice: "It takes true or false."
                )
            }
            return Resolved(
                setting: setting,
                values: [text],
                source: .variable(setting.variable),
                rank: .variable
            )
        }
        guard let file, let found = file.entry(for: setting, profile: profile),
            let values = setting.texts(of: found.entry.value)
        else { return nil }
        return Resolved(
            setting: setting,
            values: values,
            source: .file(file.name, line: found.entry.line),
            rank: found.isOfProfile ? .profile : .file
        )
    }

    /// Returns the values of an option on the command line; an empty text if no word follows it.
    private static func values(of names: [String], in words: [String]) -> [String] {
        words.indices.compactMap { index -> String? in
            let word = words[index]
            for name in names {
                if word.hasPrefix("\(name)=") { return String(word.dropFirst(name.count + 1)) }
                // Short options can be written together, as in -pa.
                let isAmong =
                    name.count == 2 && word.wholeMatch(of: /-[A-Za-z]{2,}/) != nil
                    && word.dropFirst().contains(name.dropFirst())
                guard word == name || isAmong else { continue }
                return words.indices.contains(index + 1) ? words[index + 1] : ""
            }
            return nil
        }
    }
}

extension Settings.Resolved {
    /// The equivalent words of a command line.
    package var arguments: [String] {
        guard setting.kind == .flag else { return values.map { "--\(setting.option)=\($0)" } }
        return values == ["true"] ? ["--\(setting.option)"] : []
    }
}
