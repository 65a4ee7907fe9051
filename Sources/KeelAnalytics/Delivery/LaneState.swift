internal import KeelJournal

/// What a lane has in its hands.
struct LaneState: Sendable {
    /// A record that was taken from the journal and may be sent.
    struct Candidate: Sendable {
        var position: JournalPosition
        var record: AnalyticsRecord
        var size: Int
    }

    /// The counters, as they were last written down.
    var note: LaneNote
    /// How many records there were for the destination when the service was opened.
    var base = 0
    /// What the bounds of the journal and damage have cost, as last counted.
    var losses = ConsumerTally()

    /// What may be sent next, in order.
    private(set) var waiting: [Candidate] = []
    private(set) var waitingByteCount = 0
    /// How many of them, from the first, are under way.
    var underWay = 0
    /// Whether records that were passed over have to be looked at again.
    var needsRewind = false

    /// How many records a batch may have, after batches that were too much.
    private(set) var batchLimit: Int
    private var growsSlowly = false
    private let recordLimit: Int

    /// How many tries have failed since the last success.
    var failures = 0
    /// Before this nothing is tried, unless somebody insists.
    var pausedUntil = Duration.zero
    /// Before this nothing is tried: the destination asked for it.
    var askedUntil = Duration.zero

    init(note: LaneNote, recordLimit: Int) {
        self.note = note
        self.recordLimit = recordLimit
        batchLimit = recordLimit
    }

    // MARK: What waits

    mutating func add(_ candidate: Candidate) {
        waiting.append(candidate)
        waitingByteCount += candidate.size
    }

    /// Lets go of what does not match; nothing is under way.
    mutating func keep(where matches: (Candidate) -> Bool) {
        waiting.removeAll { !matches($0) }
        waitingByteCount = waiting.reduce(0) { $0 + $1.size }
    }

    mutating func removeFirst(_ count: Int) {
        waitingByteCount -= waiting.prefix(count).reduce(0) { $0 + $1.size }
        waiting.removeFirst(count)
    }

    /// How many records, from the first, make the next batch.
    func batchCount(within bytes: Int) -> Int {
        var (count, size) = (0, 0)
        for candidate in waiting.prefix(batchLimit) {
            guard count == 0 || size + candidate.size <= bytes else { break }
            count += 1
            size += candidate.size
        }
        return count
    }

    // MARK: Sizes of batches

    /// Makes batches half as large as one that was too much.
    mutating func halve(_ count: Int, growsSlowly: Bool) {
        batchLimit = max(1, (count + 1) / 2)
        self.growsSlowly = growsSlowly
    }

    /// Makes batches larger again after a success: at once where one record was the reason, and
    /// step by step where the destination takes less than it says.
    mutating func grow() {
        let step = growsSlowly ? max(1, batchLimit / 8) : batchLimit
        batchLimit = min(recordLimit, batchLimit + step)
    }
}
