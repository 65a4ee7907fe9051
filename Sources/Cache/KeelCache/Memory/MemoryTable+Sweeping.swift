internal import Synchronization

extension MemoryTable {
    var count: Int {
        (0..<shardCount).reduce(0) { total, index in
            total + shard(at: index).pointee.state.withLock { $0.count }
        }
    }

    func count(where isMeant: (borrowing Entry) -> Bool) -> Int {
        var total = 0
        for index in 0..<shardCount {
            shard(at: index).pointee.state.withLock { shard in
                shard.visit { if isMeant($0) { total += 1 } }
            }
        }
        return total
    }

    var cost: Int {
        (0..<shardCount).reduce(0) { total, index in
            total + shard(at: index).pointee.state.withLock { $0.policy.cost }
        }
    }

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

    func begin(_ hash: UInt64) -> UInt64 {
        shard(hash).pointee.state.withLock { $0.begin(hash) }
    }

    func end(_ hash: UInt64) { shard(hash).pointee.state.withLock { $0.end(hash) } }

    func isCurrent(_ hash: UInt64, _ generation: UInt64) -> Bool {
        shard(hash).pointee.state.withLock { $0.marks[hash]?.generation == generation }
    }

    func overtakeAll() {
        for index in 0..<shardCount { shard(at: index).pointee.state.withLock { $0.overtakeAll() } }
    }

    /// Removes all entries, and makes values under way unfit to be stored.
    ///
    /// `body` is called with each entry, outside any lock.
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

    /// Removes the entries that satisfy a predicate, which runs under a lock.
    ///
    /// After `pause` cells the lock is released, and entries added or moved meanwhile may be missed.
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
                            // Stay at this position: another cell may have moved to it.
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
