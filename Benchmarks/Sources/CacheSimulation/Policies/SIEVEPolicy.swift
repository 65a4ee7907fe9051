/// A policy with one queue and a hand that spares keys used since it last passed.
///
/// Zhang et al.: "SIEVE is Simpler than LRU" (NSDI 2024).
struct SIEVEPolicy: SimulatedPolicy {
    private var keys: KeyLists
    private var isUsed: ContiguousArray<Bool>
    private var hand: Int?
    private let capacity: Int

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int) {
        keys = KeyLists(1, keyCount: keyCount)
        isUsed = ContiguousArray(repeating: false, count: keyCount)
        self.capacity = capacity
    }

    mutating func access(_ key: Int) -> Bool {
        guard keys.list(of: key) != 0 else {
            isUsed[key] = true
            return true
        }
        if keys.counts[0] >= capacity { evict() }
        keys.move(key, to: 0)
        isUsed[key] = false
        return false
    }

    private mutating func evict() {
        while let key = hand ?? keys.last(of: 0) {
            hand = keys.newer(than: key)
            guard isUsed[key] else {
                keys.remove(key)
                return
            }
            isUsed[key] = false
        }
    }
}
