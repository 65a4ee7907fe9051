public import Synchronization

/// The location of the shards of a memory table.
///
/// A cache holds a copy, so that a hit does not retain the table: all tasks would write its reference count. The owner
/// of a copy keeps the table alive.
///
/// `@unchecked`, because of the pointer: it never changes, and the memory behind it is locked.
@usableFromInline
struct MemoryParts<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline typealias Shard = LockedShard<Key, Value>

    @usableFromInline let shards: UnsafeMutableRawPointer
    @usableFromInline let shardCount: Int
    /// The shift that leaves the shard's number of a hash.
    @usableFromInline let shift: UInt64
    @usableFromInline let seed: KeySeed

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
        // A shift by all 64 bits gives 0, the only shard in that case.
        shard(at: Int(truncatingIfNeeded: hash >> shift))
    }

    @inlinable
    func shard(at index: Int) -> UnsafeMutablePointer<Shard> {
        (shards + index &* Self.stride).assumingMemoryBound(to: Shard.self)
    }

    /// The distance between shards: a multiple of two cache lines, which processors fetch in pairs.
    @inlinable
    static var stride: Int { (MemoryLayout<Shard>.size + 127) & ~127 }

    /// Returns the entry for a key, fresh or not, and counts the use as a hit or a miss.
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

    /// Counts a hit on a stale value as a miss and a stale hit, and returns true, if a newer value is being loaded.
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

    /// Stores an entry in place of the one under its key, and returns the entries that left the table.
    ///
    /// `generation` is the result of `begin(_:)` for an entry that may have been overtaken. With `onlyIfMissing`, an
    /// existing entry is kept. `admission` has the last word, and runs under the shard's lock.
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
                return MemoryOutcome(.superseded)
            }
            let slot = shard.slot(of: entry.key, hash: hash)
            if onlyIfMissing, slot >= 0 { return MemoryOutcome(.superseded) }
            if let admission, !admission() { return MemoryOutcome(.superseded) }
            if !onlyIfMissing { shard.overtake(hash) }
            guard cost <= shard.costLimit else {
                var outcome = MemoryOutcome<Key, Value>(.rejected)
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

@usableFromInline
struct LockedShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline let state: Mutex<MemoryShard<Key, Value>>

    init(_ shard: consuming MemoryShard<Key, Value>) { state = Mutex(shard) }

    /// Runs a body under the lock, spinning for a moment before sleeping.
    ///
    /// On Linux a contended lock costs two system calls, far longer than any critical section.
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
