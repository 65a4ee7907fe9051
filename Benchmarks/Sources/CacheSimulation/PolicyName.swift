/// The policies that can be simulated.
public enum PolicyName: String, CaseIterable, Sendable {
    case fifo
    case lru
    case arc
    case sieve
    case s3fifo = "s3-fifo"
    case fixed = "w-tinylfu-1"
    case fixed5 = "w-tinylfu-5"
    case fixed12 = "w-tinylfu-12"
    case fixed25 = "w-tinylfu-25"
    case fixed45 = "w-tinylfu-45"
    case fixed65 = "w-tinylfu-65"
    case fixed85 = "w-tinylfu-85"
    case fixed99 = "w-tinylfu-99"
    case keel
    /// Keel's policy whose small caches see every key; only for capacities up to 8,000.
    case unsampled = "keel-unsampled"
    case optimal

    /// The policies of a usual comparison.
    public static let usual: [PolicyName] = [
        .fifo, .lru, .arc, .sieve, .s3fifo, .fixed, .keel, .optimal,
    ]

    /// All policies but Keel's and the optimal one.
    public static var others: [PolicyName] {
        allCases.filter { ![.keel, .unsampled, .optimal].contains($0) }
    }

    /// Returns the share of a trace's requests, from 0 to 1, that a cache of `capacity` keys answers; 0 for an empty
    /// trace.
    ///
    /// Every request counts, including those that fill the cache, and every key has the same weight.
    public func hitRatio(on trace: Trace, capacity: Int, seed: UInt64 = 1) -> Double {
        let keyCount = trace.keyCount
        func fixed(_ window: Double) -> Double {
            run(FixedWindowPolicy(capacity: capacity, keyCount: keyCount, window: window), trace)
        }
        func keel(samplesKeys: Bool) -> Double {
            let policy = KeelPolicy(
                capacity: capacity,
                keyCount: keyCount,
                seed: seed,
                samplesKeys: samplesKeys
            )
            return run(policy, trace)
        }
        return switch self {
        case .fifo:
            run(LRUPolicy(capacity: capacity, keyCount: keyCount, renewsHits: false), trace)
        case .lru: run(LRUPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .arc: run(ARCPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .sieve: run(SIEVEPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .s3fifo: run(S3FIFOPolicy(capacity: capacity, keyCount: keyCount), trace)
        case .fixed: fixed(0.01)
        case .fixed5: fixed(0.05)
        case .fixed12: fixed(0.12)
        case .fixed25: fixed(0.25)
        case .fixed45: fixed(0.45)
        case .fixed65: fixed(0.65)
        case .fixed85: fixed(0.85)
        case .fixed99: fixed(0.99)
        case .keel: keel(samplesKeys: true)
        case .unsampled: keel(samplesKeys: false)
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
