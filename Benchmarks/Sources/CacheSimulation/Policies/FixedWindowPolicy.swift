/// W-TinyLFU with a fixed window: the baseline for the adaptive window.
///
/// Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy" (2017). It shares no code with
/// Keel's policy, so that a bug in either shows as a difference.
struct FixedWindowPolicy: SimulatedPolicy {
    private static let (window, probation, protected) = (0, 1, 2)
    private var keys: KeyLists
    private var counters: ContiguousArray<UInt8>
    private var countCount = 0
    private let capacity: Int
    private let windowCapacity: Int
    private let protectedCapacity: Int

    /// Creates an empty cache of `capacity` keys, all below `keyCount`, with a window of this part of it.
    init(capacity: Int, keyCount: Int, window: Double) {
        keys = KeyLists(3, keyCount: keyCount)
        self.capacity = capacity
        windowCapacity = max(1, Int(Double(capacity) * window))
        protectedCapacity = (capacity - windowCapacity) * 4 / 5
        var size = 16
        while size < capacity * 4 { size *= 2 }
        counters = ContiguousArray(repeating: 0, count: size * 4)
    }

    mutating func access(_ key: Int) -> Bool {
        count(key)
        switch keys.list(of: key) {
        case Self.window:
            keys.move(key, to: Self.window)
        case Self.probation, Self.protected:
            keys.move(key, to: Self.protected)
            if keys.counts[Self.protected] > protectedCapacity,
                let oldest = keys.last(of: Self.protected)
            {
                keys.move(oldest, to: Self.probation)
            }
        default:
            keys.move(key, to: Self.window)
            if keys.counts[Self.window] > windowCapacity { leaveWindow() }
            return false
        }
        return true
    }

    private mutating func leaveWindow() {
        guard let candidate = keys.last(of: Self.window) else { return }
        if keys.counts.reduce(0, +) > capacity {
            guard let victim = keys.last(of: Self.probation) ?? keys.last(of: Self.protected),
                frequency(candidate) > frequency(victim)
            else { return keys.remove(candidate) }
            keys.remove(victim)
        }
        keys.move(candidate, to: Self.probation)
    }

    private func place(_ key: Int, _ row: Int) -> Int {
        let mixed = HashMix.mix(UInt64(key) &+ UInt64(row) << 40)
        return row * (counters.count / 4) + Int(mixed & UInt64(counters.count / 4 - 1))
    }

    private func frequency(_ key: Int) -> UInt8 {
        (0..<4).reduce(15) { min($0, counters[place(key, $1)]) }
    }

    private mutating func count(_ key: Int) {
        for row in 0..<4 { counters[place(key, row)] = min(15, counters[place(key, row)] + 1) }
        countCount += 1
        guard countCount >= capacity * 10 else { return }
        countCount /= 2
        for index in counters.indices { counters[index] /= 2 }
    }
}
