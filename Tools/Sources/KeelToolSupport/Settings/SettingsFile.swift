package import Foundation

/// The file `keel.toml` with options of commands.
///
/// A key outside of tables applies to every command that has the option, a key in `[serve]` to that command. Those in
/// `[profile.NAME]` and `[profile.NAME.serve]` apply to a profile, and take precedence. `[all]` and
/// `[profile.NAME.all]` are also for every command: TOML does not allow a key and a table with the same name, such as
/// `storage`.
package struct SettingsFile: Sendable {
    /// The name in errors and in `keel config show`.
    package let name: String
    package let profiles: Set<String>
    private let entries: [[String]: TOMLDocument.Entry]

    /// Reads the file that applies to a folder; returns nil if there is none.
    ///
    /// This is the `keel.toml` of the folder or of the nearest one above it, otherwise `keel/config.toml` in
    /// `XDG_CONFIG_HOME` or `~/.config`. A `keel.toml` of another user in a folder that everyone can write to, such as
    /// `/tmp`, is ignored, because it could send secrets to that user's server.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read or is invalid.
    package static func found(
        in folder: URL,
        environment: [String: String]
    ) throws -> SettingsFile? {
        var folder = folder.standardizedFileURL
        while true {
            let file = folder.appending(path: "keel.toml")
            if isTrusted(file) { return try SettingsFile(file) }
            guard folder.path != "/" else { break }
            folder = folder.deletingLastPathComponent().standardizedFileURL
        }
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let home =
            configuration.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? URL(
                fileURLWithPath: environment["HOME"] ?? NSHomeDirectory(),
                isDirectory: true
            ).appending(path: ".config")
        let file = home.appending(path: "keel/config.toml")
        return FileManager.default.fileExists(atPath: file.path) ? try SettingsFile(file) : nil
    }

    /// Returns whether there is a file that no other user can have put there.
    private static func isTrusted(_ file: URL) -> Bool {
        var (link, target, folder) = (stat(), stat(), stat())
        guard lstat(file.path, &link) == 0, stat(file.path, &target) == 0 else { return false }
        if [link.st_uid, target.st_uid].allSatisfy({ $0 == geteuid() || $0 == 0 }) { return true }
        return stat(file.deletingLastPathComponent().path, &folder) == 0
            && folder.st_mode & 0o002 == 0
    }

    /// Reads a file.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read, or with the line of an error in it.
    package init(_ file: URL) throws {
        name = file.path
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ToolError(
                "“\(file.path)” cannot be read: \(ToolError.reason(error))",
                advice: "Check its permissions, or move it away."
            )
        }
        let document = try TOMLDocument(data, name: name)
        // A profile may have no keys yet.
        let headers = document.tables.filter { $0.count > 1 && $0[0] == "profile" }
        var profiles = Set(headers.map { $0[1] })
        var entries: [[String]: TOMLDocument.Entry] = [:]
        for entry in document.entries {
            var path = entry.path
            var profile: [String] = []
            if path.count > 2, path[0] == "profile" {
                profiles.insert(path[1])
                profile = Array(path.prefix(2))
                path.removeFirst(2)
            }
            if path.count == 2, path[0] == "all" { path.removeFirst() }
            try Self.check(path, entry, in: name)
            if let other = entries.updateValue(entry, forKey: profile + path) {
                throw ToolError(
                    "\(name):\(entry.line): “\(path.joined(separator: "."))” is given twice, "
                        + "also in line \(other.line)",
                    advice:
                        "Remove one of them: a key in [all] is the same as one outside of tables."
                )
            }
        }
        self.profiles = profiles
        self.entries = entries
    }

    /// Returns the value of a setting in a profile, otherwise outside of profiles.
    func entry(
        for setting: Setting,
        profile: String?
    ) -> (entry: TOMLDocument.Entry, isOfProfile: Bool)? {
        for key in setting.keys {
            guard let profile, let entry = entries[["profile", profile] + key] else { continue }
            return (entry, true)
        }
        return setting.keys.lazy.compactMap { entries[$0] }.first.map { ($0, false) }
    }

    private static func check(
        _ path: [String],
        _ entry: TOMLDocument.Entry,
        in name: String
    ) throws {
        let place = "\(name):\(entry.line)"
        let settings = Setting.all.filter { $0.keys.contains(path) }
        guard !settings.isEmpty else {
            let key = path.joined(separator: ".")
            let variable = "KEEL_" + (path.last ?? "").uppercased().replacing("-", with: "_")
            guard !Setting.secretVariables.contains(variable) else {
                throw ToolError(
                    "\(place): “\(key)” is a secret, which a file of settings must not hold",
                    advice: "Remove the line, and set the variable \(variable)."
                )
            }
            let known = Setting.all.flatMap(\.keys).map { $0.joined(separator: ".") }
            let near = Spelling.nearest(to: key, of: known).map { "Write “\($0)”? " } ?? ""
            let group = Setting.all.filter { path.count > 1 && $0.command == path[0] }
            let keys = group.map(\.option).sorted().joined(separator: ", ")
            throw ToolError(
                "\(place): there is no setting “\(key)”",
                advice: near
                    + (group.isEmpty
                        ? "keel config show lists the settings."
                        : "The keys of [\(path[0])] are: \(keys).")
            )
        }
        for setting in settings {
            guard let texts = setting.texts(of: entry.value) else {
                throw ToolError(
                    "\(place): “\(setting.option)” takes \(setting.expectation)",
                    advice: "Correct the line."
                )
            }
            guard !texts.contains(where: Passwords.isContained) else {
                throw ToolError(
                    "\(place): “\(setting.option)” has a password, which a file of settings "
                        + "must not hold",
                    advice: "Remove it from the URL; for PostgreSQL, set PGPASSWORD or write it "
                        + "into ~/.pgpass."
                )
            }
        }
    }
}

extension Setting {
    /// Returns a value as texts for the option; nil for a value of the wrong type.
    func texts(of value: TOMLDocument.Value) -> [String]? {
        switch (kind, value) {
        case (.flag, .boolean(let isOn)): return [String(isOn)]
        case (.value, .string(let text)), (.list, .string(let text)): return [text]
        case (.value, .integer(let number)): return [String(number)]
        case (.list, .array(let values)):
            let texts = values.compactMap { value -> String? in
                guard case .string(let text) = value else { return nil }
                return text
            }
            return texts.count == values.count ? texts : nil
        default: return nil
        }
    }

    var expectation: String {
        switch kind {
        case .flag: "true or false"
        case .value: "a string or an integer"
        case .list: "a string or an array of strings"
        }
    }
}

/// Suggestions for misspelled words.
package enum Spelling {
    /// Returns the candidate with the fewest changes; nil if they exceed a third of the word's letters, and one.
    package static func nearest(to word: String, of candidates: [String]) -> String? {
        let measured = candidates.map { (name: $0, distance: distance(word, $0)) }
        guard let best = measured.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, word.count / 3)
        else { return nil }
        return best.name
    }

    /// Returns the number of letters to insert, remove or replace.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
