/// How far a consumer has come in one segment.
struct SegmentProgress: Hashable, Sendable {
    /// The segment's id: a folder that was removed and made again has the same numbers.
    let id: UInt64
    /// The end of the last record before which all are settled.
    var settledTo: Int
    /// Where settled records begin behind that.
    var settledAbove: Set<Int> = []
    /// Whether nothing is left in the segment and nothing follows.
    var isDone = false

    /// How many records were passed over for their age, or because they are damaged, since the
    /// cursor was written.
    var newlyExpired = 0
    var newlyDamaged = 0

    /// Records that were taken and may be settled, in order: where they begin and end.
    private(set) var taken: ArraySlice<(offset: Int, end: Int)> = []
    /// Where the next record to take begins.
    private(set) var readTo: Int
    /// Whether the end of the segment was seen, so that nothing follows.
    var hasEnded = false

    init(
        of id: UInt64,
        settledTo: Int = SegmentHeader.byteCount,
        settledAbove: Set<Int> = []
    ) {
        self.id = id
        self.settledTo = settledTo
        self.settledAbove = settledAbove
        readTo = settledTo
    }

    /// Goes behind a record, which is given out unless it is settled already.
    mutating func pass(_ offset: Int, end: Int) {
        taken.append((offset, end))
        readTo = end
        advance()
    }

    /// Goes behind what nobody can have: damage, or a record that is too old.
    mutating func skip(_ offset: Int, end: Int) {
        settledAbove.insert(offset)
        pass(offset, end: end)
    }

    /// Marks a record as done; false if it was not given out.
    mutating func settle(_ offset: Int) -> Bool {
        guard isTaken(offset), !settledAbove.contains(offset) else { return false }
        settledAbove.insert(offset)
        advance()
        return true
    }

    /// Marks a record as done, whether it was given out or not; false if it is already.
    mutating func discard(_ offset: Int) -> Bool {
        guard !isDone, offset >= settledTo, settledAbove.insert(offset).inserted else {
            return false
        }
        advance()
        return true
    }

    /// The same as a consumer finds it that has not read anything.
    var unread: SegmentProgress {
        var progress = SegmentProgress(of: id, settledTo: settledTo, settledAbove: settledAbove)
        progress.isDone = isDone
        return progress
    }

    private func isTaken(_ offset: Int) -> Bool {
        var (low, high) = (taken.startIndex, taken.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if taken[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low < taken.endIndex && taken[low].offset == offset
    }

    /// Gives everything out again that was not settled.
    mutating func rewind() {
        taken = []
        readTo = settledTo
        hasEnded = false
    }

    private mutating func advance() {
        while let first = taken.first, settledAbove.remove(first.offset) != nil {
            settledTo = first.end
            taken = taken.dropFirst()
        }
        if hasEnded, taken.isEmpty { isDone = true }
    }

    /// Notes that nothing follows.
    mutating func finish() {
        hasEnded = true
        if taken.isEmpty { isDone = true }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.settledTo == right.settledTo
            && left.settledAbove == right.settledAbove
            && left.isDone == right.isDone
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(settledTo)
        hasher.combine(settledAbove)
        hasher.combine(isDone)
    }
}
