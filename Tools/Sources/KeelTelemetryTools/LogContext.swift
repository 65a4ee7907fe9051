package import KeelLogging

/// Selects records together with the ones around them.
package struct LogContext: Sendable {
    private let count: Int
    private var before: [LogRecord] = []
    private var after = 0

    /// Creates a selection with up to `count` records before and after each selected one.
    package init(_ count: Int) { self.count = count }

    /// Whether the records behind the last selected one have all been returned.
    package var isComplete: Bool { after == 0 }

    /// Adds the next record, and returns those to show now, in order.
    package mutating func add(_ record: LogRecord, isSelected: Bool) -> [LogRecord] {
        if isSelected {
            defer { before = [] }
            after = count
            return before + [record]
        }
        guard after == 0 else {
            after -= 1
            return [record]
        }
        if count > 0 { before = (before + [record]).suffix(count) }
        return []
    }
}
