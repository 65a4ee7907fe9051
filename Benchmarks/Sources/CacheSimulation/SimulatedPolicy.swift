/// A cache policy in a simulation: it sees keys and says which of them it still had.
///
/// Keys are the numbers from 0 to one below the number of distinct keys of the trace, so that
/// policies can keep what they know about keys in arrays.
protocol SimulatedPolicy {
    /// Asks for a key, which is in the cache afterwards unless the policy rejects it.
    ///
    /// - Returns: Whether it was a hit.
    mutating func access(_ key: Int) -> Bool
}
