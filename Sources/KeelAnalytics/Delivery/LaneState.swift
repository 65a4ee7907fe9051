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
    /// How many records there were for the destination when the service was opened; nil until that
    /// was counted.
    var base: Int?
    /// How many records were settled by then.
    let firstSum: Int
    /// Whether the note may name records that the last process left in doubt.
    var hasOldDoubts = true
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

    /// Records that were refused alone, while the destination has taken none since.
    private(set) var suspects: [Candidate] = []
    /// How many of the records that wait, from the first, belong to a batch that was refused.
    private var contested = 0
    /// How many records may still be refused for good on the strength of what was taken last.
    private var trust = 0
    private static let fullTrust = 8
    /// How many records may be refused one by one before it counts as a refusal of everything.
    private(set) var suspectLimit = Self.firstSuspectLimit
    private static let firstSuspectLimit = 8
    private static let lastSuspectLimit = 1024
    /// When the destination refused what it got.
    var refusals = RefusalPace()

    /// How many tries have failed since the last success.
    var failures = 0
    /// Before this nothing is tried, unless somebody insists.
    var pausedUntil = Duration.zero
    /// Before this nothing is tried: the destination asked for it.
    var askedUntil = Duration.zero

    init(note: LaneNote, recordLimit: Int) {
        self.note = note
        firstSum = note.sum
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

    /// Takes out what may not leave any more.
    ///
    /// - Returns: Where those records are whose purpose was denied.
    mutating func removeWithdrawn(
        _ consent: (ConsentPurpose) -> AnalyticsConsent
    ) -> [JournalPosition] {
        var denied: [JournalPosition] = []
        keep { candidate in
            switch consent(candidate.record.purpose) {
            case .granted: return true
            case .unknown: return false
            case .denied:
                denied.append(candidate.position)
                return false
            }
        }
        let gone = suspects.filter { consent($0.record.purpose) == .denied }.map(\.position)
        suspects.removeAll { gone.contains($0.position) }
        return denied + gone
    }

    // MARK: Refusals

    /// Notes that a batch was refused as a whole.
    ///
    /// - Returns: The fate of its record if it is a single one that is refused for good: it was
    ///   refused before, and others have been taken since. Without them nobody knows whether the
    ///   destination refuses the record or everything; it is then a suspect.
    mutating func refuse(
        _ count: Int,
        for reason: String,
        growsSlowly: Bool
    ) -> LaneNote.Fate? {
        guard count == 1, let first = waiting.first else {
            contested = max(contested, count)
            trust = 0
            halve(count, growsSlowly: growsSlowly)
            return nil
        }
        let isGuilty = contested > 0 && trust > 0
        contested = max(0, contested - 1)
        if isGuilty {
            trust -= 1
            return .rejected(reason)
        }
        suspects.append(first)
        removeFirst(1)
        return nil
    }

    /// Notes that the destination has taken some of a batch, whose records are not waiting any more.
    ///
    /// Suspects are next: perhaps it had refused everything for a while.
    mutating func take(_ count: Int) {
        trust = Self.fullTrust
        contested = max(0, contested - count)
        guard !suspects.isEmpty else {
            suspectLimit = Self.firstSuspectLimit
            return
        }
        waiting.insert(contentsOf: suspects, at: 0)
        waitingByteCount += suspects.reduce(0) { $0 + $1.size }
        contested += suspects.count
        suspects = []
        limit(to: 1)
    }

    /// Gives up looking for what is refused; what waits has to be taken from the journal again.
    ///
    /// The next time more records are tried: that many bad ones may stand in a row.
    mutating func giveUp() {
        if suspects.count >= suspectLimit {
            suspectLimit = min(suspectLimit * 2, Self.lastSuspectLimit)
        }
        needsRewind = true
    }

    /// Lets go of what was in hand, because it is taken from the journal again.
    mutating func rewind() {
        keep { _ in false }
        suspects = []
        (contested, trust) = (0, 0)
        needsRewind = false
    }

    // MARK: Sizes of batches

    /// Makes the next batch as large as the destination says that it may be.
    mutating func limit(to count: Int) {
        batchLimit = count
        growsSlowly = false
    }

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
