package import KeelLogging
internal import Logging

/// Counts the records of a log by level, label or the value of a field.
package struct LogCounts: Sendable {
    private let name: String
    private var counts: [String: Int] = [:]

    /// Creates counts by `level`, `label`, `message`, or the name of a field, whose absence counts as an empty value.
    package init(by name: String) { self.name = name }

    package mutating func add(_ record: LogRecord) {
        let key =
            switch name {
            case "level": record.level.rawValue
            case "label": record.label
            case "message": record.message
            default: record[name]?.description ?? ""
            }
        counts[key, default: 0] += 1
    }

    /// The counts, largest first, equal ones by value.
    package var sorted: [(key: String, count: Int)] {
        counts.map { ($0.key, $0.value) }
            .sorted { ($1.count, $0.key) < ($0.count, $1.key) }
    }
}
