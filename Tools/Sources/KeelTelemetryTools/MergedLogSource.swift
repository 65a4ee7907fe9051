package import KeelLogging

/// Several logs as one, merged by the records' times.
///
/// Each log keeps its own order, and records of the same time come in the order of the logs. A record that a log
/// receives later is not sorted among those already returned.
package final class MergedLogSource {
    private struct Lane {
        let source: LogSource
        var waiting: ArraySlice<LogRecord> = []
    }

    private static let pieceCount = 500

    private var lanes: [Lane]

    /// Merges logs, which no one else reads.
    package init(_ sources: [LogSource]) { lanes = sources.map { Lane(source: $0) } }

    /// Returns the next records; empty if there are no new ones yet.
    ///
    /// - Throws: `LoggingError` or `JournalError`.
    package func read(upTo count: Int) throws -> [LogRecord] {
        var records: [LogRecord] = []
        var ended: Set<Int> = []
        while records.count < count {
            for index in lanes.indices {
                guard lanes[index].waiting.isEmpty, !ended.contains(index) else { continue }
                lanes[index].waiting = try lanes[index].source.read(upTo: Self.pieceCount)[...]
                if lanes[index].waiting.isEmpty { ended.insert(index) }
            }
            var next: (index: Int, time: Int64)?
            for (index, lane) in lanes.enumerated() {
                if let time = lane.waiting.first?.time, time < next?.time ?? .max {
                    next = (index, time)
                }
            }
            guard let next else { break }
            records.append(lanes[next.index].waiting.removeFirst())
        }
        return records
    }

    /// The sum of ``LogSource/skippedCount``.
    package var skippedCount: Int { lanes.reduce(0) { $0 + $1.source.skippedCount } }
}
