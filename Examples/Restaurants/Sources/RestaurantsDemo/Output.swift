import Foundation

/// A parser of the app's output.
enum Output {
    /// The numbers of a refresh.
    struct Refresh: Sendable {
        let added: Int
        let updated: Int
        let removed: Int
        let unchanged: Int
    }

    static func refresh(_ lines: [String]) throws -> Refresh {
        let pattern = /Refreshed: (\d+) added, (\d+) updated, (\d+) removed, (\d+) unchanged\./
        guard lines.count == 1, let match = lines[0].wholeMatch(of: pattern)?.output,
            let added = Int(match.1), let updated = Int(match.2), let removed = Int(match.3),
            let unchanged = Int(match.4)
        else { throw DemoFailure("expected: a report of a refresh without complaints") }
        return Refresh(added: added, updated: updated, removed: removed, unchanged: unchanged)
    }

    /// Returns the first column of a table, without its title and the line below the table.
    static func ids(_ lines: [String]) -> [String] {
        guard lines.first?.hasPrefix("ID ") == true else { return [] }
        return lines.dropFirst().dropLast().compactMap { line in
            line.split(separator: " ").first.map(String.init)
        }
    }
}
