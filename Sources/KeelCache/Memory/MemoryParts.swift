public import Synchronization

/// Where the shards of a memory table are.
///
/// A cache has a copy, so that a hit does not count a reference to the table, which all tasks would
/// write to. Whoever uses a copy keeps the table alive meanwhile.
///
/// `@unchecked`, because of the pointer: it never changes, and what it points to is locked.
@usableFromInline
struct MemoryParts<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline let shards: UnsafeMutablePointer<LockedShard<Key, Value>>
    @usableFromInline let shardCount: Int
    /// How far a hash is shifted to leave the shard's number.
    @usableFromInline let shift: UInt64
    @usableFromInline let seed: KeySeed

    init(_ limits: CacheLimits) {
        let seed = KeySeed()
        self.seed = seed
        shardCount = limits.shardCount
        shift = UInt64(64 - shardCount.trailingZeroBitCount)
        shards = .allocate(capacity: shardCount)
        for index in 0..<shardCount {
            let part = limits.part(index, of: shardCount)
            (shards + index).initialize(to: LockedShard(part, seed: seed.mix(UInt64(index))))
        }
    }

    func destroy() {
        shards.deinitialize(count: shardCount)
        shards.deallocate()
    }

    @inlinable
    func shard(_ hash: UInt64) -> UnsafeMutablePointer<LockedShard<Key, Value>> {
        // A shift by all 64 bits leaves 0, the only shard there is then.
        shards + Int(truncatingIfNeeded: hash >> shift)
    }

    /// What is under a key; a use is noted, and counted as a hit or a miss.
    ///
    /// Whether the entry is still fresh is for the caller to see, who has the time.
    @inlinable
    func use(_ key: Key, hash: UInt64) -> (value: Value?, freshUntil: Int64, detail: MemoryDetail?)?
    {
        shard(hash).pointee.withLock { shard in
            let slot = shard.slot(of: key, hash: hash)
            guard slot >= 0 else {
                shard.counts.misses &+= 1
                shard.policy.recordMiss(hash: hash)
                return nil
            }
            shard.counts.hits &+= 1
            shard.note(slot)
            let entry = shard.entries + slot
            return (entry.pointee.value, entry.pointee.freshUntil, entry.pointee.detail)
        }
    }

    /// Stores an entry in place of what is under its key.
    ///
    /// - Parameters:
    ///   - entry: What to store.
    ///   - cost: What it costs; 0 or more.
    ///   - generation: What ``begin(_:)`` gave, where the entry may have been overtaken.
    ///   - onlyIfMissing: Whether an entry that is there stays, as newer than this one.
    ///   - admission: Runs under the shard's lock when nothing else speaks against the entry, and
    ///     has the last word on it.
    /// - Returns: What became of it, and what left the table.
    @inlinable
    func store(
        _ entry: Entry,
        cost: Int,
        generation: UInt64? = nil,
        onlyIfMissing: Bool = false,
        admission: (() -> Bool)? = nil
    ) -> MemoryOutcome<Key, Value> {
        shard(entry.hash).pointee.withLock { shard in
            let hash = entry.hash
            if let generation, shard.marks[hash]?.generation != generation {
                return MemoryOutcome(.overtaken)
            }
            let slot = shard.slot(of: entry.key, hash: hash)
            if onlyIfMissing, slot >= 0 { return MemoryOutcome(.overtaken) }
            if let admission, !admission() { return MemoryOutcome(.overtaken) }
            if !onlyIfMissing { shard.overtake(hash) }
            guard cost <= shard.costLimit else {
                var outcome = MemoryOutcome<Key, Value>(.refused)
                if slot >= 0 {
                    outcome.replaced = shard.remove(slot)
                }
                return outcome
            }
            var outcome = MemoryOutcome<Key, Value>(.stored)
            shard.tellUses()
            if slot >= 0 {
                outcome.replaced = (shard.entries + slot).move()
                (shard.entries + slot).initialize(to: entry)
                shard.policy.setCost(slot, cost)
                shard.policy.touch(slot)
            } else {
                shard.insert(entry, slot: shard.policy.insert(hash: hash, cost: cost))
            }
            while let victim = shard.policy.nextVictim() {
                shard.counts.evictions &+= 1
                outcome.evicted.add(shard.take(victim))
            }
            return outcome
        }
    }
}

/// A shard and its lock.
@usableFromInline
struct LockedShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let state: Mutex<MemoryShard<Key, Value>>

    @inlinable
    init(_ limits: CacheLimits, seed: UInt64) {
        state = Mutex(
            MemoryShard(countLimit: limits.count, costLimit: limits.cost, seed: seed)
        )
    }

    /// Runs a body under the lock, trying for a moment before it sleeps.
    ///
    /// On Linux a lock that somebody waits for costs two calls of the kernel, some microseconds; all
    /// sections here are far shorter than that.
    @inlinable
    borrowing func withLock<Result: Sendable>(
        _ body: (inout MemoryShard<Key, Value>) -> Result
    ) -> Result {
        for _ in 0..<40 {
            if let result = state.withLockIfAvailable({ body(&$0) }) { return result }
        }
        return state.withLock { body(&$0) }
    }
}
