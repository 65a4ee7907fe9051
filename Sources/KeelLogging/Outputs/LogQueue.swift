#if Logging

internal import Logging

/// Records in memory that wait to be written, with a bound, and what was dropped to keep it.
///
/// When there is no room for a record, the oldest of the least serious level makes place, as long
/// as that level is below the record's own; otherwise the record itself is dropped.
struct LogQueue {
    private struct Entry {
        let number: UInt64
        let record: LogRecord
        let size: Int
    }

    /// The records of one level, in order; the first `head` of them are gone.
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
    /// What was dropped and not told yet.
    private(set) var dropped = DroppedLogRecords()

    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = max(1, countLimit)
        self.byteLimit = max(1024, byteLimit)
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a record, or drops one.
    ///
    /// - Returns: What was dropped.
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

    /// Takes the oldest record out.
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

    /// What was dropped since the last call.
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
    /// The place of the level among all, the least serious first.
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
