/// A shard of a memory table: an open-addressing index over entries in slots, which the policy assigns.
///
/// A cell of the index holds the high half of the hash and the slot; 0 marks an empty cell. Probing is linear, and
/// removal closes the gap.
///
/// `@unchecked`, because of the pointers, which the shard alone knows.
@usableFromInline
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>
    @usableFromInline typealias Slot = MemorySlot<Key, Value>

    // The fields that every hit needs come first, in one cache line with the lock.
    @usableFromInline var cells: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask: Int
    @usableFromInline var entries: UnsafeMutablePointer<Slot>
    @usableFromInline var prints: KeyPrints<Key>
    /// The number of uses to skip before the next one is noted.
    @usableFromInline var pause: UInt32 = 0
    /// Whether enough uses came since the last write that only a sample is noted.
    @usableFromInline var notesFew = false
    @usableFromInline var counts = MemoryCounts()

    @usableFromInline var margins: UnsafeMutablePointer<MemoryMargin>
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0
    @usableFromInline let costLimit: Int
    /// Values under way, by the hash of their keys.
    @usableFromInline var marks: [UInt64: MemoryMark] = [:]
    @usableFromInline var lastGeneration: UInt64 = 0
    @usableFromInline let notes: UnsafeMutablePointer<UInt32>
    @usableFromInline var noteCount = 0
    /// Uses noted since the last write and reported to the policy.
    @usableFromInline var quietUses = 0
    @usableFromInline var random: UInt64
    @usableFromInline var policy: EvictionPolicy
    /// The shared findings of a table's shards about the load; nil for the only shard.
    let poll: WindowPoll?

    @inlinable static var noteLimit: Int { 64 }

    init(_ limits: CacheLimits, seed: UInt64, poll: WindowPoll?) {
        let cellCount = 16
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: 0, count: cellCount)
        mask = cellCount - 1
        capacity = 8
        entries = Self.allocateSlots(capacity)
        prints = KeyPrints(capacity)
        margins = .allocate(capacity: capacity)
        notes = .allocate(capacity: Self.noteLimit)
        costLimit = limits.cost ?? .max
        random = seed
        self.poll = poll
        policy = EvictionPolicy(
            countLimit: limits.count,
            costLimit: limits.cost,
            seed: seed,
            shardCount: poll?.shardCount ?? 1
        )
        if let poll { policy.setWindow(poll.winner) }
    }

    @inlinable
    deinit {
        for position in 0...mask where cells[position] != 0 {
            let slot = Self.slot(of: cells[position])
            (entries + slot).deinitialize(count: 1)
            (margins + slot).deinitialize(count: 1)
        }
        notes.deallocate()
        margins.deallocate()
        prints.deallocate()
        entries.deallocate()
        cells.deallocate()
    }

    // MARK: Finding

    @inlinable
    static func slot(of cell: UInt64) -> Int { Int(truncatingIfNeeded: cell & 0xFFFF_FFFF) &- 1 }

    /// Returns the first cell to probe for a hash, the same for a hash and for its cell.
    ///
    /// Uses only the high half, so that closing a gap reads no memory but the cells.
    @inlinable
    func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & mask }

    /// Returns the slot of a key, or -1.
    @inlinable
    borrowing func slot(of key: Key, hash: UInt64) -> Int {
        var position = home(hash)
        while true {
            let cell = cells[position]
            if cell == 0 { return -1 }
            if (cell ^ hash) >> 32 == 0 {
                let slot = Self.slot(of: cell)
                if prints.isPrint(of: key, at: slot, entries[slot].key) { return slot }
                if entries[slot].key == key { return slot }
            }
            position = (position &+ 1) & mask
        }
    }
}

/// The generation that a value under way must have begun with to be stored.
@usableFromInline
struct MemoryMark: Sendable {
    @usableFromInline var generation: UInt64
    /// The number of calls that wait for a value.
    @usableFromInline var holders: Int
}

@usableFromInline
struct MemoryCounts: Sendable {
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0
    /// Reads answered with a stale value while a newer one is loaded; also counted as misses.
    @usableFromInline var staleHits = 0

    @inlinable
    init() {}
}
