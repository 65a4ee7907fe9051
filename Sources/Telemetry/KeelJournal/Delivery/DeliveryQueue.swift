/// The items that a lane has read and that have no final outcome yet, and the search for those that are refused.
///
/// An item that is refused alone is a suspect, as the receiver may be refusing everything. It is
/// sent once more after the receiver has accepted another item, and given up if refused again.
struct DeliveryQueue<Item: Sendable>: Sendable {
    struct Entry: Sendable {
        var position: JournalPosition
        var item: Item
        var size: Int
    }

    /// The items to send next, in order.
    private(set) var waiting: [Entry] = []
    private(set) var byteCount = 0
    /// The sizes of the parts of refused batches that the first waiting items form, last one first.
    private var parts: [Int] = []
    /// The items refused alone since the receiver last accepted one.
    private(set) var suspects: [Entry] = []
    /// How many items may still be given up, based on the last accepted batch.
    private var trust = 0
    private let fullTrust = 8
    /// How many items may be refused one by one before it counts as a refusal of everything.
    private var suspectLimit = 8
    private let lastSuspectLimit = 1024

    private let recordLimit: Int
    private(set) var batchLimit: Int
    /// The same before the search for an item that is too large.
    private var batchLimitBefore: Int
    private var growsSlowly = false

    init(recordLimit: Int) {
        self.recordLimit = recordLimit
        (batchLimit, batchLimitBefore) = (recordLimit, recordLimit)
    }

    // MARK: Items

    mutating func add(_ entry: Entry) {
        waiting.append(entry)
        byteCount += entry.size
    }

    mutating func removeFirst(_ count: Int) {
        byteCount -= waiting.prefix(count).reduce(0) { $0 + $1.size }
        waiting.removeFirst(count)
        var rest = count
        while rest > 0, let part = parts.popLast() {
            if part > rest { parts.append(part - rest) }
            rest -= part
        }
    }

    /// The items of the next batch.
    func batch(within bytes: Int) -> ArraySlice<Entry> {
        var (count, size) = (0, 0)
        for entry in waiting.prefix(min(batchLimit, parts.last ?? .max)) {
            guard count == 0 || size + entry.size <= bytes else { break }
            count += 1
            size += entry.size
        }
        return waiting.prefix(count)
    }

    /// Removes the items that must no longer be sent.
    ///
    /// - Returns: The final outcomes of the removed items that are not held.
    mutating func review(
        _ decide: (Entry) -> DeliveryDecision<Item>?
    ) -> [JournalPosition: DeliveryFate] {
        var fates: [JournalPosition: DeliveryFate] = [:]
        let count = waiting.count
        waiting.removeAll { entry in
            guard let decision = decide(entry) else { return false }
            if case .settle(let fate) = decision { fates[entry.position] = fate }
            return true
        }
        if waiting.count < count {
            parts = []
            byteCount = waiting.reduce(0) { $0 + $1.size }
        }
        suspects.removeAll { entry in
            guard case .settle(let fate) = decide(entry) else { return false }
            fates[entry.position] = fate
            return true
        }
        return fates
    }

    /// Removes all items, since they will be read again.
    mutating func rewind() {
        (waiting, parts, suspects) = ([], [], [])
        (byteCount, trust) = (0, 0)
    }

    // MARK: Refusals

    var isHopeless: Bool { suspects.count >= suspectLimit }

    /// Notes that a batch was refused as a whole.
    ///
    /// - Returns: Whether it is a single item that is given up; it then still waits.
    mutating func refuse(_ count: Int, isTooLarge: Bool) -> Bool {
        let isContested = !parts.isEmpty
        guard count == 1, let first = waiting.first else {
            if isTooLarge {
                if !isContested { batchLimitBefore = batchLimit }
                batchLimit = max(1, (count + 1) / 2)
                growsSlowly = true
            }
            let part = parts.popLast() ?? count
            if part > count { parts.append(part - count) }
            parts += [count - count / 2, count / 2]
            trust = 0
            return false
        }
        if isContested, trust > 0 {
            trust -= 1
            // The item was too large, and not the batches around it.
            if isTooLarge { batchLimit = max(batchLimit, batchLimitBefore) }
            return true
        }
        removeFirst(1)
        suspects.append(first)
        return false
    }

    /// Notes that the receiver accepted at least one item of a batch, which no longer waits.
    ///
    /// Suspects are sent next, as the receiver may have refused everything for a while.
    mutating func accept() {
        trust = fullTrust
        guard !suspects.isEmpty else {
            suspectLimit = fullTrust
            return
        }
        waiting.insert(contentsOf: suspects, at: 0)
        byteCount += suspects.reduce(0) { $0 + $1.size }
        parts += repeatElement(1, count: suspects.count)
        suspects = []
    }

    /// Notes that the search for the refused item was stopped.
    ///
    /// The next one tries more items: that many bad ones could be in a row.
    mutating func giveUp() {
        if isHopeless { suspectLimit = min(suspectLimit * 2, lastSuspectLimit) }
        // Halving again would only repeat the refusals.
        limit(to: 1)
    }

    // MARK: Batch sizes

    /// Limits the next batch to the number that fits a request.
    mutating func limit(to count: Int) {
        batchLimit = count
        growsSlowly = false
    }

    /// Raises the batch size after a success: step by step if the receiver accepts less than it
    /// declares, otherwise quickly.
    mutating func grow() {
        let step = growsSlowly ? max(1, batchLimit / 8) : batchLimit
        batchLimit = min(recordLimit, batchLimit + step)
    }
}
