package import Foundation
package import KeelAnalytics

/// The user's decisions, the size and the ledgers of an analytics folder.
package struct AnalyticsReport: Encodable, Sendable {
    package struct Destination: Encodable, Sendable {
        package let accepted: Int
        package let delivered: Int
        package let pending: Int
        package let rejected: [String: Int]
        package let expired: Int
        package let purged: Int

        package init(_ ledger: AnalyticsLedger) {
            accepted = ledger.accepted
            delivered = ledger.delivered
            pending = ledger.pending
            rejected = ledger.rejected
            expired = ledger.expired
            purged = ledger.purged
        }

        var cells: [String] {
            [
                accepted, delivered, pending, rejected.values.reduce(0, +), expired, purged,
            ].map { "\($0)" }
        }
    }

    package let folder: String
    /// The size of the journal in bytes.
    package let bytes: Int
    /// The decisions by purpose: `granted`, `denied` or `unknown`.
    package let consents: [String: String]
    /// Whether the decisions were lost, because the settings file is missing or was corrupt.
    package let hasLostSettings: Bool
    package let destinations: [String: Destination]

    /// Inspects a folder; the app may be running.
    ///
    /// - Throws: `AnalyticsError`, with the code `notFound` if there is no journal.
    package init(of folder: URL) throws(AnalyticsError) {
        let inspection = try AnalyticsInspection(of: folder)
        self.folder = folder.path
        bytes = try inspection.byteCount()
        hasLostSettings = inspection.hasLostSettings
        consents = Dictionary(
            uniqueKeysWithValues: inspection.consents.map { ($0.key.rawValue, "\($0.value)") }
        )
        destinations = try inspection.ledgers().mapValues { Destination($0) }
    }

    package var lines: [String] {
        var lines = ["journal: \(bytes) bytes"]
        if hasLostSettings {
            lines.append("decisions: lost; nothing is sent until the user decides again")
        } else if consents.isEmpty {
            lines.append("decisions: none")
        }
        for (purpose, consent) in consents.sorted(by: { $0.key < $1.key }) {
            lines.append("consent to \(purpose): \(consent)")
        }
        let head = [
            "destination", "accepted", "delivered", "pending", "rejected", "expired", "purged",
        ]
        let names = destinations.keys.sorted()
        let rows = [head] + names.map { [$0] + (destinations[$0]?.cells ?? []) }
        lines += Self.table(rows)
        for name in names {
            for (reason, count) in (destinations[name]?.rejected ?? [:]).sorted(by: <) {
                lines.append("rejected by \(name): \(count) \(reason)")
            }
        }
        return lines
    }

    /// Aligns the first column to the left, and the others to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }
    }
}
