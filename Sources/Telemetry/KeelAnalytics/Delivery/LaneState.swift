internal import KeelJournal

/// The working state of a lane.
struct LaneState: Sendable {
    /// A record that was read from the journal and may be sent.
    struct Candidate: Sendable {
        var position: JournalPosition
        var record: AnalyticsRecord
        var size: Int
    }

    /// The counters, as last stored.
    var note: LaneNote
    /// The number of records for the destination when the service was opened; nil until counted.
    var base: Int?
    /// The number of records settled at that time.
    let firstSum: Int
    /// Whether the note may contain records that the previous process left in doubt.
    var hasOldDoubts = true
    /// The records lost to the journal's bounds and to damage, as last counted.
    var losses = ConsumerCounts()

    /// The records to send next, in order.
    private(set) var waiting: [Candidate] = []
    private(set) var waitingByteCount = 0
    /// How many of them, from the first, are in the current request.
    var underWay = 0
    /// Whether skipped records have to be revisited.
    var needsRewind = false

    /// The maximum number of records per batch, reduced after batches that were too large.
    private(set) var batchLimit: Int
    private var growsSlowly = false
    private let recordLimit: Int

    /// Records refused individually since the destination last accepted one.
    private(set) var suspects: [Candidate] = []
    /// How many waiting records, from the first, belong to a refused batch.
    private var contested = 0
    /// How many records may still be rejected, based on the last accepted batch.
    private var trust = 0
    private static let fullTrust = 8
    /// How many records may be refused one by one before it counts as a refusal of everything.
    private(set) var suspectLimit = Self.firstSuspectLimit
    private static let firstSuspectLimit = 8
    private static let lastSuspectLimit = 1024
    /// The times of recent refusals.
    var refusals = RefusalPace()

    /// The number of consecutive failures.
    var failures = 0
    /// When the next attempt is due, unless forced.
    var pausedUntil = Duration.zero
    /// When the destination wants the next attempt; applies even if forced.
    var askedUntil = Duration.zero

    init(note: LaneNote, recordLimit: Int) {
        self.note = note
        firstSum = note.sum
        self.recordLimit = recordLimit
        batchLimit = recordLimit
    }

    // MARK: Pending records

    mutating func add(_ candidate: Candidate) {
        waiting.append(candidate)
        waitingByteCount += candidate.size
    }

    /// Removes the records that do not match.
    ///
    /// No request may be in flight.
    mutating func keep(where matches: (Candidate) -> Bool) {
        waiting.removeAll { !matches($0) }
        waitingByteCount = waiting.reduce(0) { $0 + $1.size }
    }

    mutating func removeFirst(_ count: Int) {
        waitingByteCount -= waiting.prefix(count).reduce(0) { $0 + $1.size }
        waiting.removeFirst(count)
    }

    /// The number of records, from the first, in the next batch.
    func batchCount(within bytes: Int) -> Int {
        var (count, size) = (0, 0)
        for candidate in waiting.prefix(batchLimit) {
            guard count == 0 || size + candidate.size <= bytes else { break }
            count += 1
            size += candidate.size
        }
        return count
    }

    /// Removes the records that may no longer be sent.
    ///
    /// - Returns: The positions of records with a denied purpose.
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

    /// Handles a batch that was refused as a whole.
    ///
    /// - Returns: The fate of a single record that is rejected: it was refused before, and others
    ///   have been accepted since. Without those it is only a suspect.
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

    /// Notes that the destination accepted part of a batch, which is no longer waiting.
    ///
    /// Suspects are sent next, as the destination may have refused everything for a while.
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

    /// Stops the search for the refused record; waiting records have to be read again.
    ///
    /// The next search tries more records: that many bad ones could be in a row.
    mutating func giveUp() {
        if suspects.count >= suspectLimit {
            suspectLimit = min(suspectLimit * 2, Self.lastSuspectLimit)
        }
        needsRewind = true
    }

    /// Removes all waiting records, since they will be read again.
    mutating func rewind() {
        keep { _ in false }
        suspects = []
        (contested, trust) = (0, 0)
        needsRewind = false
    }

    // MARK: Batch sizes

    /// Limits the next batch to the size that the destination named.
    mutating func limit(to count: Int) {
        batchLimit = count
        growsSlowly = false
    }

    /// Halves the batch size after a batch that was too large.
    mutating func halve(_ count: Int, growsSlowly: Bool) {
        batchLimit = max(1, (count + 1) / 2)
        self.growsSlowly = growsSlowly
    }

    /// Raises the batch size after a success: quickly if a single record was the cause, step by
    /// step if the destination accepts less than it declares.
    mutating func grow() {
        let step = growsSlowly ? max(1, batchLimit / 8) : batchLimit
        batchLimit = min(recordLimit, batchLimit + step)
    }
}
