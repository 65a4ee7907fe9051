/// Keel's eviction policy for simulations: the real one, without keys and values.
///
/// For tools that compare policies on traces; apps use `Cache`. This SPI may change at any time.
@_spi(Simulation)
public struct SimulatedEviction: Sendable {
    private var policy: EvictionPolicy

    /// Creates the policy of an empty cache.
    ///
    /// - Parameters:
    ///   - countLimit: The maximum number of entries, or nil for no limit.
    ///   - costLimit: The maximum total cost of the entries, or nil for no limit.
    ///   - seed: Decides the positions of keys and the few entries admitted by chance.
    public init(countLimit: Int?, costLimit: Int? = nil, seed: UInt64) {
        policy = EvictionPolicy(countLimit: countLimit, costLimit: costLimit, seed: seed)
    }

    /// Assigns a slot, a small number, to a new entry.
    ///
    /// - Parameters:
    ///   - hash: A hash of the key.
    ///   - cost: The cost of the entry.
    /// - Returns: The slot.
    public mutating func insert(hash: UInt64, cost: Int = 1) -> Int {
        policy.insert(hash: hash, cost: cost)
    }

    /// Notes that the entry of a slot was used.
    public mutating func touch(_ slot: Int) { policy.touch(slot) }

    /// Evicts one entry and returns its slot, or returns nil within the limits.
    public mutating func nextVictim() -> Int? { policy.nextVictim() }
}
