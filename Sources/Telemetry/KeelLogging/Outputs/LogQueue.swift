#if Logging

internal import Logging

/// A bounded queue of records in memory, with counts of the dropped ones.
///
/// When a record does not fit, the oldest record of the lowest level below the record's own is
/// dropped; if there is none, the record itself is.
struct LogQueue {
    private struct Entry {
        let number: UInt64
        let record: LogRecord
        let size: Int
    }

    /// The records of one level, in order; the first `head` have been removed.
    private struct Lane {
        var entries: [Entry?] = []
        var head = 0

        var first: Entry? { head < entries.count ? entries[head] : nil }

        mutating func removeFirst() {
            entries[head] = nil
            head += 1
            if head == entries.count {
                entries.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 1024, head * 2 >= entries.count {
                entries.removeFirst(head)
                head = 0
            }
        }
    }

    let countLimit: Int
    let byteLimit: Int
    private var lanes = [Lane](repeating: Lane(), count: Logger.Level.allCases.count)
    private var next: UInt64 = 0
    private(set) var count = 0
    private(set) var byteCount = 0
    /// The records dropped but not yet reported.
    private(set) var dropped = DroppedLogRecords()

    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = max(1, countLimit)
        self.byteLimit = max(1024, byteLimit)
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a record, dropping others or itself if it does not fit; returns the levels of the dropped records.
    mutating func append(_ record: LogRecord) -> [Logger.Level] {
        let entry = Entry(number: next, record: record, size: record.byteCount)
        let lane = record.level.lane
        var gone: [Logger.Level] = []
        guard entry.size <= byteLimit else {
            drop(record.level, &gone)
            return gone
        }
        while count >= countLimit || byteCount + entry.size > byteLimit {
            guard let victim = lanes[..<lane].firstIndex(where: { $0.first != nil }) else {
                drop(record.level, &gone)
                return gone
            }
            remove(from: victim)
            drop(Logger.Level.allCases[victim], &gone)
        }
        next += 1
        lanes[lane].entries.append(entry)
        count += 1
        byteCount += entry.size
        return gone
    }

    mutating func popFirst() -> LogRecord? {
        var oldest: (lane: Int, entry: Entry)?
        for lane in lanes.indices {
            guard let entry = lanes[lane].first else { continue }
            if let found = oldest, found.entry.number < entry.number { continue }
            oldest = (lane, entry)
        }
        guard let oldest else { return nil }
        remove(from: oldest.lane)
        return oldest.entry.record
    }

    /// Returns and resets the counts of dropped records; nil if there are none.
    mutating func takeDropped() -> DroppedLogRecords? {
        guard dropped.total > 0 else { return nil }
        defer { dropped = DroppedLogRecords() }
        return dropped
    }

    private mutating func remove(from lane: Int) {
        guard let entry = lanes[lane].first else { return }
        lanes[lane].removeFirst()
        count -= 1
        byteCount -= entry.size
    }

    private mutating func drop(_ level: Logger.Level, _ gone: inout [Logger.Level]) {
        dropped[level] += 1
        gone.append(level)
    }
}

extension Logger.Level {
    /// The index of the level, least serious first.
    var lane: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}

#endif
