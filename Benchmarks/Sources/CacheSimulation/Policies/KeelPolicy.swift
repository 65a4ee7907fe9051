@_spi(Simulation) internal import KeelCache

/// Keel's own policy, with a slot table.
struct KeelPolicy: SimulatedPolicy {
    private var eviction: SimulatedEviction
    private var slots: ContiguousArray<Int32>
    private var keys: ContiguousArray<Int32> = []

    /// Creates an empty cache of `capacity` keys, all below `keyCount`.
    init(capacity: Int, keyCount: Int, seed: UInt64 = 1, samplesKeys: Bool = true) {
        eviction = SimulatedEviction(countLimit: capacity, seed: seed, samplesKeys: samplesKeys)
        slots = ContiguousArray(repeating: -1, count: keyCount)
    }

    mutating func access(_ key: Int) -> Bool {
        let slot = Int(slots[key])
        guard slot < 0 else {
            eviction.touch(slot)
            return true
        }
        let new = eviction.insert(hash: HashMix.mix(UInt64(key)))
        if new == keys.count { keys.append(Int32(key)) } else { keys[new] = Int32(key) }
        slots[key] = Int32(new)
        while let victim = eviction.nextVictim() { slots[Int(keys[victim])] = -1 }
        return false
    }
}
