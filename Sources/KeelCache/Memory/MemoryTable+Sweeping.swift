internal import Synchronization

extension MemoryTable {
    /// How many entries there are.
    var count: Int {
        (0..<shardCount).reduce(0) { total, index in
            total + shard(at: index).pointee.state.withLock { $0.count }
        }
    }

    /// How many entries a test picks; it runs under a lock.
    func count(where isMeant: (borrowing Entry) -> Bool) -> Int {
        var total = 0
        for index in 0..<shardCount {
            shard(at: index).pointee.state.withLock { shard in
                shard.visit { if isMeant($0) { total += 1 } }
            }
        }
        return total
    }

    /// What all entries cost.
    var cost: Int {
        (0..<shardCount).reduce(0) { total, index in
            total + shard(at: index).pointee.state.withLock { $0.policy.cost }
        }
    }

    /// What the shards have counted.
    var counts: MemoryCounts {
        var total = MemoryCounts()
        for index in 0..<shardCount {
            let counts = shard(at: index).pointee.state.withLock { $0.counts }
            total.hits += counts.hits
            total.misses += counts.misses
            total.evictions += counts.evictions
            total.staleHits += counts.staleHits
        }
        return total
    }

    /// How many calls wait for values under way.
    var holderCount: Int {
        (0..<shardCount).reduce(0) { total, index in
            total
                + shard(at: index).pointee.state.withLock {
                    $0.marks.values.reduce(0) { $0 + $1.holders }
                }
        }
    }

    /// Notes that a value for a key begins to be made.
    ///
    /// - Returns: What ``store(_:cost:generation:onlyIfMissing:admission:)`` has to be told; to be
    ///   ended with ``end(_:)``.
    func begin(_ hash: UInt64) -> UInt64 {
        shard(hash).pointee.state.withLock { $0.begin(hash) }
    }

    /// Notes that one fewer waits for a value.
    func end(_ hash: UInt64) { shard(hash).pointee.state.withLock { $0.end(hash) } }

    /// Whether nothing was stored or removed under a key since it was begun.
    func isCurrent(_ hash: UInt64, _ generation: UInt64) -> Bool {
        shard(hash).pointee.state.withLock { $0.marks[hash]?.generation == generation }
    }

    /// Makes values that are under way unfit to be stored.
    func overtakeAll() {
        for index in 0..<shardCount { shard(at: index).pointee.state.withLock { $0.overtakeAll() } }
    }

    /// Takes everything out; no value that is under way will be stored.
    ///
    /// - Parameter body: Is told of each entry, outside of any lock.
    func removeAll(_ body: (borrowing Entry) -> Void) {
        for index in 0..<shardCount {
            var other = parts.newShard(index, limits, poll)
            shard(at: index).pointee.state.withLock { shard in
                other.takeOver(shard)
                swap(&shard, &other)
            }
            other.visit(body)
        }
    }

    /// Takes out entries that a test picks.
    ///
    /// - Parameters:
    ///   - pause: How many places are looked at before others get the lock; what comes or moves
    ///     meanwhile may be passed over. Nil to hold a shard's lock until it is done.
    ///   - overtakesAll: Whether no value that is under way may be stored.
    ///   - isMeant: Picks what to take out; runs under a lock.
    /// - Returns: What was taken out.
    func removeAll(
        pausingAfter pause: Int?,
        overtakesAll: Bool = false,
        where isMeant: (borrowing Entry) -> Bool
    ) -> [Entry] {
        var removed: [Entry] = []
        for index in 0..<shardCount {
            if overtakesAll { shard(at: index).pointee.state.withLock { $0.overtakeAll() } }
            var position = 0
            var isDone = false
            while !isDone {
                isDone = shard(at: index).pointee.state.withLock { shard in
                    let end = pause.map { position + $0 } ?? .max
                    while position <= shard.mask, position < end {
                        let cell = shard.cells[position]
                        let slot = MemoryShard<Key, Value>.slot(of: cell)
                        if cell != 0, isMeant(shard.entry(slot)) {
                            // Another cell may move to this place: it is looked at again.
                            removed.append(shard.remove(slot))
                        } else {
                            position += 1
                        }
                    }
                    return position > shard.mask
                }
            }
        }
        return removed
    }
}
