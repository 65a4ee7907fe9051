struct SegmentProgress: Hashable, Sendable {
    /// The segment's id; numbers repeat if the folder is deleted and recreated.
    let id: UInt64
    /// The end of the last record up to which all are acknowledged.
    var acknowledgedTo: Int
    /// The starts of acknowledged records after that.
    var acknowledgedAbove: Set<Int> = []
    /// Whether everything is acknowledged and nothing follows.
    var isDone = false

    /// The number of records skipped as expired, and as corrupt, since the cursor was written.
    var newlyExpired = 0
    var newlyDamaged = 0

    /// Returned records that may be acknowledged, in order: where they begin and end.
    private(set) var taken: ArraySlice<(offset: Int, end: Int)> = []
    /// The start of the next record to return.
    private(set) var readTo: Int
    /// Whether the end of the segment was seen, so that nothing follows.
    var hasEnded = false

    init(
        of id: UInt64,
        acknowledgedTo: Int = SegmentHeader.byteCount,
        acknowledgedAbove: Set<Int> = []
    ) {
        self.id = id
        self.acknowledgedTo = acknowledgedTo
        self.acknowledgedAbove = acknowledgedAbove
        readTo = acknowledgedTo
    }

    /// Moves past a record, which is returned unless it is already acknowledged.
    mutating func pass(_ offset: Int, end: Int) {
        taken.append((offset, end))
        readTo = end
        advance()
    }

    /// Moves past a corrupt or expired record.
    mutating func skip(_ offset: Int, end: Int) {
        acknowledgedAbove.insert(offset)
        pass(offset, end: end)
    }

    /// Marks a record as acknowledged; false if it was not returned.
    mutating func acknowledge(_ offset: Int) -> Bool {
        guard isTaken(offset), !acknowledgedAbove.contains(offset) else { return false }
        acknowledgedAbove.insert(offset)
        advance()
        return true
    }

    /// Marks a record as acknowledged, whether returned or not; false if it already was.
    mutating func discard(_ offset: Int) -> Bool {
        guard !isDone, offset >= acknowledgedTo, acknowledgedAbove.insert(offset).inserted else {
            return false
        }
        advance()
        return true
    }

    var unread: SegmentProgress {
        var progress = SegmentProgress(
            of: id,
            acknowledgedTo: acknowledgedTo,
            acknowledgedAbove: acknowledgedAbove
        )
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

    mutating func rewind() {
        taken = []
        readTo = acknowledgedTo
        hasEnded = false
    }

    private mutating func advance() {
        while let first = taken.first, acknowledgedAbove.remove(first.offset) != nil {
            acknowledgedTo = first.end
            taken = taken.dropFirst()
        }
        if hasEnded, taken.isEmpty { isDone = true }
    }

    mutating func finish() {
        hasEnded = true
        if taken.isEmpty { isDone = true }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.acknowledgedTo == right.acknowledgedTo
            && left.acknowledgedAbove == right.acknowledgedAbove
            && left.isDone == right.isDone
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(acknowledgedTo)
        hasher.combine(acknowledgedAbove)
        hasher.combine(isDone)
    }
}
