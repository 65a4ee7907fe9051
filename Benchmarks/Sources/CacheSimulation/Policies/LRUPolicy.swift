/// A policy that evicts the least recently used key.
struct LRUPolicy: SimulatedPolicy {
    private var keys: KeyLists
    private let capacity: Int

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int) {
        keys = KeyLists(1, keyCount: keyCount)
        self.capacity = capacity
    }

    mutating func access(_ key: Int) -> Bool {
        let isHit = keys.list(of: key) == 0
        keys.move(key, to: 0)
        if keys.counts[0] > capacity, let oldest = keys.last(of: 0) { keys.remove(oldest) }
        return isHit
    }
}

/// A policy that evicts the oldest key, used or not.
struct FIFOPolicy: SimulatedPolicy {
    private var keys: KeyLists
    private let capacity: Int

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int) {
        keys = KeyLists(1, keyCount: keyCount)
        self.capacity = capacity
    }

    mutating func access(_ key: Int) -> Bool {
        guard keys.list(of: key) != 0 else { return true }
        keys.move(key, to: 0)
        if keys.counts[0] > capacity, let oldest = keys.last(of: 0) { keys.remove(oldest) }
        return false
    }
}
