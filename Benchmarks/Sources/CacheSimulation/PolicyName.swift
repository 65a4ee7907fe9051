/// The policies that can be simulated.
public enum PolicyName: String, CaseIterable, Sendable {
    case fifo
    case lru
    case arc
    case sieve
    case s3fifo = "s3-fifo"
    case fixed = "w-tinylfu-1"
    case keel
    case optimal

    /// Returns the share of a trace's requests, from 0 to 1, that a cache of `capacity` keys answers; 0 for an empty
    /// trace.
    ///
    /// Every request counts, including those that fill the cache, and every key has the same weight.
    public func hitRatio(on trace: Trace, capacity: Int, seed: UInt64 = 1) -> Double {
        let keyCount = trace.keyCount
        return switch self {
        case .fifo: run(FIFOPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .lru: run(LRUPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .arc: run(ARCPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .sieve: run(SIEVEPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .s3fifo: run(S3FIFOPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .fixed: run(FixedWindowPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .keel: run(KeelPolicy(capacity: capacity, keyCount: keyCount, seed: seed), trace)
        case .optimal: run(OptimalPolicy(capacity: capacity, trace: trace), trace)
        }
    }

    private func run(_ policy: consuming some SimulatedPolicy, _ trace: Trace) -> Double {
        guard !trace.keys.isEmpty else { return 0 }
        var hits = 0
        for key in trace.keys where policy.access(Int(key)) { hits += 1 }
        return Double(hits) / Double(trace.keys.count)
    }
}
