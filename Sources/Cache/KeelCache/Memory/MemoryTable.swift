internal import Synchronization

/// The entries of a cache in memory, in separately locked shards.
///
/// The high bits of a key's hash choose the shard. The only caller's code that runs under a lock is the keys' `==`;
/// removed values are returned and released outside. A hit allocates nothing. The limits of all shards add up to those
/// of the table.
@usableFromInline
final class MemoryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline typealias Entry = MemoryEntry<Key, Value>

    @usableFromInline let parts: MemoryParts<Key, Value>
    let limits: CacheLimits
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

    func discard(_ key: Key, hash: UInt64, detail: MemoryDetail?, freshUntil: Int64) -> Entry? {
        shard(hash).pointee.state.withLock { shard in
            let slot = shard.slot(of: key, hash: hash)
            guard slot >= 0, shard.margins[slot].detail === detail,
                shard.margins[slot].freshUntil == freshUntil
            else { return nil }
            return shard.remove(slot)
        }
    }

    func recount(_ hash: UInt64) {
        shard(hash).pointee.state.withLock { shard in
            shard.counts.hits &-= 1
            shard.counts.misses &+= 1
        }
    }

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

    func wasIdle(_ detail: MemoryDetail, hash: UInt64, at now: Int64) -> Bool {
        shard(hash).pointee.state.withLock { _ in detail.wasIdle(at: now) }
    }

    // MARK: Writing

    /// Removes an entry, and makes values under way for its key unfit to be stored; `admission` runs under the shard's
    /// lock.
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
