extension MemoryShard {
    /// Makes values under way for a key unfit to be stored.
    @inlinable
    mutating func overtake(_ hash: UInt64) {
        if marks.isEmpty { return }
        overtakeMarked(hash)
    }

    @usableFromInline
    mutating func overtakeMarked(_ hash: UInt64) {
        guard marks[hash] != nil else { return }
        lastGeneration += 1
        marks[hash]?.generation = lastGeneration
    }

    mutating func overtakeAll() {
        for hash in marks.keys { overtakeMarked(hash) }
    }

    mutating func takeOver(_ other: borrowing Self) {
        marks = other.marks
        lastGeneration = other.lastGeneration
        counts = other.counts
        overtakeAll()
    }

    mutating func begin(_ hash: UInt64) -> UInt64 {
        if let mark = marks[hash] {
            marks[hash]?.holders = mark.holders + 1
            return mark.generation
        }
        lastGeneration += 1
        marks[hash] = MemoryMark(generation: lastGeneration, holders: 1)
        return lastGeneration
    }

    mutating func end(_ hash: UInt64) {
        guard let mark = marks[hash] else { return }
        if mark.holders == 1 {
            marks[hash] = nil
        } else {
            marks[hash]?.holders = mark.holders - 1
        }
    }
}
