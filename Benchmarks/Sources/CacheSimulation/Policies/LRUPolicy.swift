/// A policy that evicts the least recently used key, or the oldest key, used or not.
struct LRUPolicy: SimulatedPolicy {
    private var keys: KeyLists
    private let capacity: Int
    private let renewsHits: Bool

    /// Creates an empty cache of `capacity` keys, all below `keyCount`; without `renewsHits`, it evicts the oldest key.
    init(capacity: Int, keyCount: Int, renewsHits: Bool = true) {
        keys = KeyLists(1, keyCount: keyCount)
        self.capacity = capacity
        self.renewsHits = renewsHits
    }

    mutating func access(_ key: Int) -> Bool {
        let isHit = keys.list(of: key) == 0
        if isHit, !renewsHits { return true }
        keys.move(key, to: 0)
        if keys.counts[0] > capacity, let oldest = keys.last(of: 0) { keys.remove(oldest) }
        return isHit
    }
}
