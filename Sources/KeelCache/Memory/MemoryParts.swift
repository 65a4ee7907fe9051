public import Synchronization

/// Where the shards of a memory table are.
///
/// A cache has a copy, so that a hit does not count a reference to the table, which all tasks would
/// write to: there is no reference in here. Whoever uses a copy keeps the table alive meanwhile.
///
/// `@unchecked`, because of the pointer: it never changes, and what it points to is locked.
@usableFromInline
struct MemoryParts<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline typealias Shard = LockedShard<Key, Value>

    @usableFromInline let shards: UnsafeMutableRawPointer
    @usableFromInline let shardCount: Int
    /// How far a hash is shifted to leave the shard's number.
    @usableFromInline let shift: UInt64
    @usableFromInline let seed: KeySeed

    /// - Parameters:
    ///   - limits: Those of the table.
    ///   - poll: Nil for a table of one shard.
    init(_ limits: CacheLimits, _ poll: WindowPoll?) {
        let seed = KeySeed()
        self.seed = seed
        shardCount = limits.shardCount
        shift = UInt64(64 - shardCount.trailingZeroBitCount)
        shards = .allocate(byteCount: shardCount * Self.stride, alignment: 128)
        for index in 0..<shardCount {
            (shards + index * Self.stride).initializeMemory(
                as: Shard.self,
                to: LockedShard(newShard(index, limits, poll))
            )
        }
    }

    /// An empty shard for a place in the table.
    func newShard(
        _ index: Int,
        _ limits: CacheLimits,
        _ poll: WindowPoll?
    ) -> MemoryShard<Key, Value> {
        let part = limits.part(index, of: shardCount)
        return MemoryShard(part, seed: seed.mix(UInt64(index)), poll: poll)
    }

    func destroy() {
        for index in 0..<shardCount { shard(at: index).deinitialize(count: 1) }
        shards.deallocate()
    }

    @inlinable
    func shard(_ hash: UInt64) -> UnsafeMutablePointer<Shard> {
        // A shift by all 64 bits leaves 0, the only shard there is then.
        shard(at: Int(truncatingIfNeeded: hash >> shift))
    }

    @inlinable
    func shard(at index: Int) -> UnsafeMutablePointer<Shard> {
        (shards + index &* Self.stride).assumingMemoryBound(to: Shard.self)
    }

    /// How many bytes one shard is from the next.
    ///
    /// No line of memory belongs to two, nor a pair of lines, which processors fetch together: two
    /// threads would wait for each other's locks.
    @inlinable
    static var stride: Int { (MemoryLayout<Shard>.size + 127) & ~127 }

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
            if entry.pointee.isPlain { return (entry.pointee.value, .max, nil) }
            let margin = shard.margins + slot
            return (entry.pointee.value, margin.pointee.freshUntil, margin.pointee.detail)
        }
    }

    /// Counts a hit on a stale value as what it is, where another value is being loaded.
    ///
    /// - Returns: Whether one is.
    @inlinable
    func countStale(_ detail: MemoryDetail, hash: UInt64) -> Bool {
        guard detail.isRenewed.load(ordering: .relaxed) else { return false }
        shard(hash).pointee.withLock { shard in
            shard.counts.hits &-= 1
            shard.counts.misses &+= 1
            shard.counts.staleHits &+= 1
        }
        return true
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
            shard.tellAllUses()
            if slot >= 0 {
                outcome.replaced = shard.pull(slot)
                shard.put(entry, slot)
                shard.policy.setCost(slot, cost)
                shard.policy.touch(slot)
            } else {
                shard.insert(entry, slot: shard.policy.insert(hash: hash, cost: cost))
            }
            if shard.policy.hasVotes { shard.vote() }
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

    init(_ shard: consuming MemoryShard<Key, Value>) { state = Mutex(shard) }

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
