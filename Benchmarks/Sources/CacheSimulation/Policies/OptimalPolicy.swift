/// The upper bound for all policies: it knows the future, and keeps the keys whose next use is nearest.
///
/// Belady's rule (1966), which here may also decline to keep a key.
struct OptimalPolicy: SimulatedPolicy {
    private let nextUses: ContiguousArray<Int32>
    private let capacity: Int
    private var now = 0
    private var count = 0
    /// The next use of each cached key, or -1.
    private var keptUntil: ContiguousArray<Int32>
    private var farthest = FarthestUses()

    /// Creates an empty cache of `capacity` keys for the requests of `trace`.
    init(capacity: Int, trace: Trace) {
        self.capacity = capacity
        nextUses = trace.nextUses
        keptUntil = ContiguousArray(repeating: -1, count: trace.keyCount)
    }

    mutating func access(_ key: Int) -> Bool {
        let next = nextUses[now]
        now += 1
        let isHit = keptUntil[key] >= 0
        // A key that is never requested again is not kept.
        guard next < .max else {
            if isHit { count -= 1 }
            keptUntil[key] = -1
            return isHit
        }
        keptUntil[key] = next
        farthest.push(next, Int32(key))
        if !isHit { count += 1 }
        while count > capacity, let (use, key) = farthest.pop() {
            // Keys used in the meantime remain in the heap with a past time.
            guard keptUntil[Int(key)] == use else { continue }
            keptUntil[Int(key)] = -1
            count -= 1
        }
        return isHit
    }
}

/// A heap of the next uses of keys, latest first.
private struct FarthestUses {
    private var heap: ContiguousArray<UInt64> = []

    mutating func push(_ use: Int32, _ key: Int32) {
        var place = heap.count
        let new = UInt64(UInt32(use)) << 32 | UInt64(UInt32(key))
        heap.append(new)
        while place > 0, heap[(place - 1) / 2] < new {
            heap[place] = heap[(place - 1) / 2]
            place = (place - 1) / 2
        }
        heap[place] = new
    }

    mutating func pop() -> (use: Int32, key: Int32)? {
        guard let top = heap.first, let last = heap.popLast() else { return nil }
        var place = 0
        while !heap.isEmpty {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] > heap[child] { child += 1 }
            guard heap[child] > last else { break }
            heap[place] = heap[child]
            place = child
        }
        if !heap.isEmpty { heap[place] = last }
        return (Int32(truncatingIfNeeded: top >> 32), Int32(truncatingIfNeeded: top & 0xFFFF_FFFF))
    }
}
