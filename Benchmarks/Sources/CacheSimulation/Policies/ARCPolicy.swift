/// A policy that balances recency and frequency by its hits among recently evicted keys.
///
/// Megiddo, Modha: "ARC: A Self-Tuning, Low Overhead Replacement Cache" (FAST 2003), figure 4.
struct ARCPolicy: SimulatedPolicy {
    private static let (t1, t2, b1, b2) = (0, 1, 2, 3)
    private var keys: KeyLists
    private let capacity: Int
    /// The target size of T1.
    private var target = 0

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int) {
        keys = KeyLists(4, keyCount: keyCount)
        self.capacity = capacity
    }

    mutating func access(_ key: Int) -> Bool {
        let counts = keys.counts
        switch keys.list(of: key) {
        case Self.t1, Self.t2:
            keys.move(key, to: Self.t2)
            return true
        case Self.b1:
            target = min(capacity, target + max(1, counts[Self.b2] / counts[Self.b1]))
            replace(isInB2: false)
            keys.move(key, to: Self.t2)
        case Self.b2:
            target = max(0, target - max(1, counts[Self.b1] / counts[Self.b2]))
            replace(isInB2: true)
            keys.move(key, to: Self.t2)
        default:
            makeRoom(counts)
            keys.move(key, to: Self.t1)
        }
        return false
    }

    /// Handles case IV of the paper: the key is in none of the lists.
    private mutating func makeRoom(_ counts: [Int]) {
        let recent = counts[Self.t1] + counts[Self.b1]
        let total = counts.reduce(0, +)
        if recent == capacity {
            if counts[Self.t1] < capacity {
                removeLast(of: Self.b1)
                replace(isInB2: false)
            } else {
                removeLast(of: Self.t1)
            }
        } else if total >= capacity {
            if total == 2 * capacity { removeLast(of: Self.b2) }
            replace(isInB2: false)
        }
    }

    private mutating func replace(isInB2: Bool) {
        let count = keys.counts[Self.t1]
        if count > 0, count > target || (isInB2 && count == target) {
            if let key = keys.last(of: Self.t1) { keys.move(key, to: Self.b1) }
        } else if let key = keys.last(of: Self.t2) {
            keys.move(key, to: Self.b2)
        }
    }

    private mutating func removeLast(of list: Int) {
        if let key = keys.last(of: list) { keys.remove(key) }
    }
}
