/// A part of a memory table: an index by open addressing over entries in slots.
///
/// A cell of the index holds the high half of the hash and the slot; 0 is an empty cell. Cells are
/// probed one after another, and closed up when one is emptied, so that there are no tombstones.
/// Which slot an entry gets is the policy's choice: both speak of entries by it.
///
/// `@unchecked`, because of the pointers: nothing else knows them.
@usableFromInline
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline var cells: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask: Int
    @usableFromInline var entries: UnsafeMutablePointer<Entry>
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0
    @usableFromInline var policy: EvictionPolicy
    @usableFromInline let costLimit: Int
    @usableFromInline var counts = MemoryCounts()
    /// Values under way, by the hash of their keys.
    @usableFromInline var marks: [UInt64: MemoryMark] = [:]
    @usableFromInline var lastGeneration: UInt64 = 0
    /// Slots whose use the policy has not been told of.
    @usableFromInline let notes: UnsafeMutablePointer<UInt32>
    @usableFromInline var noteCount = 0

    @inlinable static var noteLimit: Int { 64 }

    @inlinable
    init(countLimit: Int?, costLimit: Int?, seed: UInt64) {
        let cellCount = 16
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: 0, count: cellCount)
        mask = cellCount - 1
        capacity = 8
        entries = .allocate(capacity: capacity)
        notes = .allocate(capacity: Self.noteLimit)
        self.costLimit = costLimit ?? .max
        policy = EvictionPolicy(countLimit: countLimit, costLimit: costLimit, seed: seed)
    }

    @inlinable
    deinit {
        for position in 0...mask where cells[position] != 0 {
            (entries + Self.slot(of: cells[position])).deinitialize(count: 1)
        }
        notes.deallocate()
        entries.deallocate()
        cells.deallocate()
    }

    // MARK: Uses

    /// Notes a use, for the policy to hear of together with others.
    ///
    /// To tell it of each use at once would touch memory all over the table under the lock. An entry
    /// that is used again before the policy has heard of it is noted once.
    @inlinable
    mutating func note(_ slot: Int) {
        if entries[slot].isNoted { return }
        entries[slot].isNoted = true
        notes[noteCount] = UInt32(truncatingIfNeeded: slot)
        noteCount &+= 1
        if noteCount == Self.noteLimit { tellUses() }
    }

    /// Tells the policy of uses, as has to be done before it is asked or told anything else.
    @inlinable
    mutating func tellUses() {
        for index in 0..<noteCount {
            let slot = Int(notes[index])
            entries[slot].isNoted = false
            policy.touch(slot)
        }
        noteCount = 0
    }

    // MARK: Finding

    @inlinable
    static func slot(of cell: UInt64) -> Int { Int(truncatingIfNeeded: cell & 0xFFFF_FFFF) &- 1 }

    /// The slot of a key, or -1.
    @inlinable
    borrowing func slot(of key: Key, hash: UInt64) -> Int {
        var position = Int(truncatingIfNeeded: hash) & mask
        while true {
            let cell = cells[position]
            if cell == 0 { return -1 }
            if (cell ^ hash) >> 32 == 0 {
                let slot = Self.slot(of: cell)
                if entries[slot].hash == hash, entries[slot].key == key { return slot }
            }
            position = (position &+ 1) & mask
        }
    }

    // MARK: Storing and taking out

    /// Puts an entry that is not there yet into the slot that the policy gave it.
    @inlinable
    mutating func insert(_ entry: Entry, slot: Int) {
        if slot >= capacity { growEntries(slot) }
        if count &* 4 >= (mask &+ 1) &* 3 { growCells() }
        let hash = entry.hash
        (entries + slot).initialize(to: entry)
        place(hash, slot)
        count &+= 1
    }

    @inlinable
    func place(_ hash: UInt64, _ slot: Int) {
        var position = Int(truncatingIfNeeded: hash) & mask
        while cells[position] != 0 { position = (position &+ 1) & mask }
        cells[position] = (hash & 0xFFFF_FFFF_0000_0000) | UInt64(slot &+ 1)
    }

    /// Takes an entry out that the policy does not choose.
    @inlinable
    mutating func remove(_ slot: Int) -> Entry {
        tellUses()
        policy.remove(slot)
        return take(slot)
    }

    /// Takes an entry out of its slot after the policy has forgotten it.
    @inlinable
    mutating func take(_ slot: Int) -> Entry {
        let entry = (entries + slot).move()
        var hole = Int(truncatingIfNeeded: entry.hash) & mask
        while Self.slot(of: cells[hole]) != slot { hole = (hole &+ 1) & mask }
        // Close the row up: what may stand in the hole moves into it.
        var position = hole
        while true {
            position = (position &+ 1) & mask
            let cell = cells[position]
            if cell == 0 { break }
            let home = Int(truncatingIfNeeded: entries[Self.slot(of: cell)].hash) & mask
            if (position &- home) & mask >= (position &- hole) & mask {
                cells[hole] = cell
                hole = position
            }
        }
        cells[hole] = 0
        count &-= 1
        return entry
    }

    @inlinable
    mutating func growEntries(_ slot: Int) {
        let larger = max(slot + 1, capacity * 2)
        let moved = UnsafeMutablePointer<Entry>.allocate(capacity: larger)
        for position in 0...mask where cells[position] != 0 {
            let slot = Self.slot(of: cells[position])
            (moved + slot).moveInitialize(from: entries + slot, count: 1)
        }
        entries.deallocate()
        entries = moved
        capacity = larger
    }

    @inlinable
    mutating func growCells() {
        let old = cells
        let oldMask = mask
        let larger = (mask + 1) * 2
        cells = .allocate(capacity: larger)
        cells.initialize(repeating: 0, count: larger)
        mask = larger - 1
        for position in 0...oldMask where old[position] != 0 {
            let slot = Self.slot(of: old[position])
            place(entries[slot].hash, slot)
        }
        old.deallocate()
    }

    // MARK: Values under way

    /// Makes values that are under way for a key unfit to be stored.
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

    /// Makes an empty shard go on where another one was.
    mutating func takeOver(_ other: borrowing Self) {
        marks = other.marks
        lastGeneration = other.lastGeneration
        counts = other.counts
        overtakeAll()
    }

    /// Hands all entries to a reader, which nobody else can reach any more.
    borrowing func visit(_ body: (borrowing Entry) -> Void) {
        for position in 0...mask where cells[position] != 0 {
            body(entries[Self.slot(of: cells[position])])
        }
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

/// Says which values under way for a key may still be stored: those that began with its generation.
@usableFromInline
struct MemoryMark: Sendable {
    @usableFromInline var generation: UInt64
    /// How many calls wait for a value.
    @usableFromInline var holders: Int
}

/// What a shard counts.
@usableFromInline
struct MemoryCounts: Sendable {
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0

    @inlinable
    init() {}
}
