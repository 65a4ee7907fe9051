package import Foundation
internal import KeelAnalytics
package import KeelCore

/// Counts the events and screens of an analytics folder.
package struct AnalyticsTop: Sendable {
    package struct Row: Encodable, Sendable, Equatable {
        /// `event` or `screen`.
        package let kind: String
        package let name: String
        package let count: Int
        /// The number of different user ids or, where there is none, anonymous ids.
        package let users: Int
    }

    private struct Name: Hashable {
        let kind: String
        let name: String
    }

    private struct Tally {
        var count = 0
        var users: Set<String> = []
    }

    private let folder: URL
    private let sealing: (any ByteSealing)?

    /// The start time, inclusive, in microseconds since 1970.
    package var since: Int64?
    /// The end time, exclusive, in microseconds since 1970.
    package var until: Int64?
    /// The kind to count, `event` or `screen`; nil counts both.
    package var kind: String?

    /// The number of records that ``rows()`` could not decode.
    package private(set) var skippedCount = 0

    /// Creates counts; the app may be running, and `sealing` decrypts its records if they are sealed.
    package init(of folder: URL, sealing: (any ByteSealing)? = nil) {
        self.folder = folder
        self.sealing = sealing
    }

    /// Counts the records on disk, the most frequent first, those of equal counts by name.
    ///
    /// - Throws: `AnalyticsError`, with the code `notFound` if there is no journal.
    package mutating func rows() throws -> [Row] {
        var tallies: [Name: Tally] = [:]
        var reader = try AnalyticsInspection(of: folder, sealing: sealing).reader()
        while case let records = try reader.read(upTo: 500), !records.isEmpty {
            for record in records {
                let name: Name
                switch record.kind {
                case .event(let event): name = Name(kind: "event", name: event)
                case .screen(let screen): name = Name(kind: "screen", name: screen)
                default: continue
                }
                let time = Int64((record.time.timeIntervalSince1970 * 1_000_000).rounded())
                guard kind ?? name.kind == name.kind, since.map({ time >= $0 }) ?? true,
                    until.map({ time < $0 }) ?? true
                else { continue }
                tallies[name, default: Tally()].count += 1
                tallies[name]?.users.insert(record.userID ?? record.anonymousID)
            }
        }
        skippedCount = reader.skippedRecordCount
        return tallies.map { name, tally in
            Row(kind: name.kind, name: name.name, count: tally.count, users: tally.users.count)
        }
        .sorted { ($1.count, $0.name, $0.kind) < ($0.count, $1.name, $1.kind) }
    }
}
