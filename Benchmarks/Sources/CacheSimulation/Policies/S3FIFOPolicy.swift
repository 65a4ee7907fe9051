/// A policy with three queues: a small one for new keys, a main one, and one of recently evicted keys.
///
/// Yang et al.: "FIFO queues are all you need for cache eviction" (SOSP 2023), with a small queue
/// of a tenth and as many ghosts as the main queue has entries.
struct S3FIFOPolicy: SimulatedPolicy {
    private static let (small, main, ghost) = (0, 1, 2)
    private var keys: KeyLists
    private var uses: ContiguousArray<UInt8>
    private let capacity: Int
    private let smallCapacity: Int

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int) {
        keys = KeyLists(3, keyCount: keyCount)
        uses = ContiguousArray(repeating: 0, count: keyCount)
        self.capacity = capacity
        smallCapacity = max(1, capacity / 10)
    }

    mutating func access(_ key: Int) -> Bool {
        let list = keys.list(of: key)
        guard list != Self.small, list != Self.main else {
            uses[key] = min(3, uses[key] + 1)
            return true
        }
        while keys.counts[Self.small] + keys.counts[Self.main] >= capacity { evict() }
        keys.move(key, to: list == Self.ghost ? Self.main : Self.small)
        uses[key] = 0
        return false
    }

    private mutating func evict() {
        let smallIsFull = keys.counts[Self.small] >= smallCapacity
        if smallIsFull || keys.counts[Self.main] == 0, let key = keys.last(of: Self.small) {
            if uses[key] > 1 {
                uses[key] = 0
                keys.move(key, to: Self.main)
                if keys.counts[Self.main] > capacity - smallCapacity { evictFromMain() }
            } else {
                keys.move(key, to: Self.ghost)
                if keys.counts[Self.ghost] > capacity - smallCapacity,
                    let oldest = keys.last(of: Self.ghost)
                {
                    keys.remove(oldest)
                }
            }
        } else {
            evictFromMain()
        }
    }

    private mutating func evictFromMain() {
        while let key = keys.last(of: Self.main) {
            guard uses[key] > 0 else {
                keys.remove(key)
                return
            }
            uses[key] -= 1
            keys.move(key, to: Self.main)
        }
    }
}
