/// Keel's eviction policy for simulations: the real one, without keys and values.
///
/// Tools that compare policies on traces use it; apps use `Cache`. It is a system programming
/// interface and may change at any time.
@_spi(Simulation)
public struct SimulatedEviction: Sendable {
    private var policy: EvictionPolicy

    /// Creates the policy of an empty cache.
    ///
    /// - Parameters:
    ///   - countLimit: The most entries to keep, or nil for any number.
    ///   - costLimit: The most that the entries may cost together, or nil for any sum.
    ///   - seed: Decides the places of keys and the few entries admitted by chance.
    public init(countLimit: Int?, costLimit: Int? = nil, seed: UInt64) {
        policy = EvictionPolicy(countLimit: countLimit, costLimit: costLimit, seed: seed)
    }

    /// Gives a new entry a slot, a small number.
    ///
    /// - Parameters:
    ///   - hash: A hash of the key.
    ///   - cost: What the entry costs.
    /// - Returns: The slot.
    public mutating func insert(hash: UInt64, cost: Int = 1) -> Int {
        policy.insert(hash: hash, cost: cost)
    }

    /// Notes that the entry of a slot was used.
    public mutating func touch(_ slot: Int) { policy.touch(slot) }

    /// The slot of an entry that must go, or nil within the limits.
    public mutating func nextVictim() -> Int? { policy.nextVictim() }
}
