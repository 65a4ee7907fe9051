/// A simulated cache policy, which reports for each requested key whether it was in the cache.
///
/// Keys are numbers from 0 to below the trace's number of distinct keys, so that policies can use arrays.
protocol SimulatedPolicy {
    /// Requests a key, which is in the cache afterwards unless the policy rejects it; returns whether it was a hit.
    mutating func access(_ key: Int) -> Bool
}
