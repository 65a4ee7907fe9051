import Foundation
import KeelSecurity
import KeelTerminal

/// The keys of a keyset, as a table or as one record per key.
struct KeysetTable {
    private let keyset: Keyset

    init(_ keyset: Keyset) { self.keyset = keyset }

    func show(_ output: CommandOutput) throws {
        guard !output.isJSON else {
            for key in keyset.keys { try output.record(Row(key, in: keyset)) }
            return
        }
        try output.line("        id  status     algorithm             dates")
        for key in keyset.keys {
            let id = String(key.id)
            let padding = String(repeating: " ", count: max(0, 10 - id.count))
            let status = key.id == keyset.primaryID ? "primary" : "\(key.status)"
            try output.line(
                padding + id + "  " + TextWidth.padded(status, to: 11)
                    + TextWidth.padded("\(key.algorithm)", to: 22) + Self.dates(key.dates)
            )
        }
    }

    private static func dates(_ dates: KeyDates) -> String {
        [
            ("created", dates.created), ("not before", dates.notBefore),
            ("expires", dates.expires), ("destroyed after", dates.destroyAfter),
        ].compactMap { name, date in date.map { "\(name) \($0.formatted(.iso8601))" } }
            .joined(separator: ", ")
    }

    private struct Row: Encodable {
        let id: UInt32
        let algorithm: String
        let status: String
        let isPrimary: Bool
        let created: String?
        let notBefore: String?
        let expires: String?
        let destroyAfter: String?

        init(_ key: KeysetKey, in keyset: Keyset) {
            id = key.id
            algorithm = "\(key.algorithm)"
            status = "\(key.status)"
            isPrimary = key.id == keyset.primaryID
            created = key.dates.created?.formatted(.iso8601)
            notBefore = key.dates.notBefore?.formatted(.iso8601)
            expires = key.dates.expires?.formatted(.iso8601)
            destroyAfter = key.dates.destroyAfter?.formatted(.iso8601)
        }
    }
}
