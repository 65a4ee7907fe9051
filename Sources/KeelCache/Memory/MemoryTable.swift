internal import Synchronization

/// Entries in memory, in shards that are locked one by one.
///
/// The key is hashed once, outside of any lock; the hash's high bits choose the shard. Under a lock
/// runs no code of the caller but the keys' `==`, which a table cannot do without; values that leave
/// the table are handed out and die outside. A hit allocates nothing.
///
/// The limits are divided among the shards exactly, so that their sum never exceeds the whole; a
/// small table has one shard.
///
@usableFromInline
final class MemoryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline let parts: MemoryParts<Key, Value>
    let limits: CacheLimits
    /// Nil for the only shard.
    let poll: WindowPoll?

    init(limits: CacheLimits) {
        self.limits = limits
        let shardCount = limits.shardCount
        poll = shardCount > 1 ? WindowPoll(limits, shardCount) : nil
        parts = MemoryParts(limits, poll)
    }

    deinit { parts.destroy() }

    var shardCount: Int { parts.shardCount }
    var seed: KeySeed { parts.seed }

    func shard(_ hash: UInt64) -> UnsafeMutablePointer<LockedShard<Key, Value>> {
        parts.shard(hash)
    }

    func shard(at index: Int) -> UnsafeMutablePointer<LockedShard<Key, Value>> {
        parts.shard(at: index)
    }

    // MARK: Reading

    /// Notes that a hit was none, because the entry turned out to be dead, and takes it out.
    ///
    /// - Returns: The entry, if it is still there.
    func discard(_ key: Key, hash: UInt64, detail: MemoryDetail?, freshUntil: Int64) -> Entry? {
        shard(hash).pointee.state.withLock { shard in
            let slot = shard.slot(of: key, hash: hash)
            guard slot >= 0, shard.margins[slot].detail === detail,
                shard.margins[slot].freshUntil == freshUntil
            else { return nil }
            return shard.remove(slot)
        }
    }

    /// Turns a hit that was counted into a miss.
    func recount(_ hash: UInt64) {
        shard(hash).pointee.state.withLock { shard in
            shard.counts.hits &-= 1
            shard.counts.misses &+= 1
        }
    }

    /// What is under a key, without noting a use.
    func look(_ key: Key, hash: UInt64) -> MemoryFound<Value>? {
        shard(hash).pointee.state.withLock { shard in
            let slot = shard.slot(of: key, hash: hash)
            guard slot >= 0 else { return nil }
            return MemoryFound(
                value: shard.entries[slot].value,
                freshUntil: shard.margins[slot].freshUntil,
                detail: shard.margins[slot].detail
            )
        }
    }

    /// Notes a use of an entry that is dropped when it is idle for too long.
    ///
    /// - Returns: Whether it had been idle for too long.
    func wasIdle(_ detail: MemoryDetail, hash: UInt64, at now: Int64) -> Bool {
        shard(hash).pointee.state.withLock { _ in detail.wasIdle(at: now) }
    }

    // MARK: Writing

    /// Takes an entry out; values under way for its key will not be stored.
    ///
    /// - Parameters:
    ///   - key: What the entry is found by.
    ///   - hash: The key's hash.
    ///   - admission: Runs under the shard's lock.
    /// - Returns: The entry, nil where there was none.
    @discardableResult
    func remove(_ key: Key, hash: UInt64, admission: (() -> Void)? = nil) -> Entry? {
        shard(hash).pointee.state.withLock { shard in
            shard.overtake(hash)
            admission?()
            let slot = shard.slot(of: key, hash: hash)
            guard slot >= 0 else { return nil }
            return shard.remove(slot)
        }
    }
}
