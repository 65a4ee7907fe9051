/// A synthetic trace and the cache sizes to try on it.
///
/// The policy was tuned only on the mixes listed here. They cover skews, loops, scans, keys used again soon, changes of
/// load, and mixtures of these.
public struct SyntheticMix: Sendable {
    /// The name in tables.
    public let name: String
    /// The cache sizes, in keys.
    public let sizes: [Int]
    private let requests: Int
    private let pattern: @Sendable () -> Pattern

    init(
        _ name: String,
        _ sizes: [Int],
        requests: Int,
        _ pattern: @escaping @Sendable () -> Pattern
    ) {
        self.name = name
        self.sizes = sizes
        self.requests = requests
        self.pattern = pattern
    }

    /// Returns the requests of the mix.
    ///
    /// - Parameter seed: The seed; equal seeds give equal traces.
    /// - Returns: The trace.
    public func trace(seed: UInt64 = 1) -> Trace {
        var base: UInt64 = 0
        var source = PatternSource(pattern(), nextBase: &base)
        var random = MixRandom(seed: seed)
        var trace = Trace(name: name)
        for _ in 0..<requests { trace.append(source.next(using: &random)) }
        return trace
    }

    /// Returns the same mix with fewer requests, for quick runs.
    ///
    /// - Parameter requests: The maximum number of requests.
    /// - Returns: The mix.
    public func shortened(to requests: Int) -> SyntheticMix {
        SyntheticMix(name, sizes, requests: min(self.requests, requests), pattern)
    }

    /// Mixes for caches of 250 to 4000 entries, which take seconds in a release build.
    public static let small: [SyntheticMix] = zipfs + loops + recents + shifts + mixtures

    /// Mixes for caches of 10,000 to 100,000 entries, whose shadows sample the keys.
    public static let large: [SyntheticMix] = [
        .init("large zipf 0.8", [10_000, 100_000], requests: 2_000_000) {
            .zipf(skew: 0.8, keys: 1_000_000)
        },
        .init("large drifting", [10_000, 50_000], requests: 2_000_000) {
            .drifting(skew: 0.9, keys: 300_000, every: 10)
        },
        .init("large recent", [10_000, 50_000], requests: 1_500_000) {
            .recent(span: 30_000, uses: 1)
        },
        .init("large loop", [10_000, 20_000, 40_000], requests: 1_500_000) {
            .loop(keys: 41_000)
        },
        .init("large loop that fits", [10_000], requests: 500_000) { .loop(keys: 9_900) },
        .init("large loop, zipf, scan", [10_000, 50_000], requests: 2_000_000) {
            .mixed([
                (0.4, .zipf(skew: 0.9, keys: 200_000)), (0.4, .loop(keys: 60_000)), (0.2, .scan),
            ])
        },
        .init("large shifts", [10_000, 20_000], requests: 2_000_000) {
            .phases([
                (400_000, .recent(span: 15_000, uses: 1)), (400_000, .loop(keys: 25_000)),
                (400_000, .drifting(skew: 0.9, keys: 100_000, every: 5)),
            ])
        },
    ]

    private static let zipfs: [SyntheticMix] = [0.6, 0.8, 1.0, 1.2].map { skew in
        .init("zipf \(skew)", [250, 1000, 4000], requests: 300_000) {
            .zipf(skew: skew, keys: 50_000)
        }
    }

    private static let loops: [SyntheticMix] = [
        .init("loop", [250, 512, 1000], requests: 150_000) { .loop(keys: 1050) },
        .init("zipf and loop", [250, 1000, 4000], requests: 300_000) {
            .mixed([(0.5, .zipf(skew: 0.9, keys: 20_000)), (0.5, .loop(keys: 5000))])
        },
        .init("zipf and scan", [250, 1000, 4000], requests: 300_000) {
            .mixed([(0.6, .zipf(skew: 0.9, keys: 20_000)), (0.4, .scan)])
        },
        .init("zipf, now and then a scan", [250, 1000, 4000], requests: 300_000) {
            .phases([(20_000, .zipf(skew: 0.9, keys: 20_000)), (5000, .scan)])
        },
    ]

    private static let recents: [SyntheticMix] = [
        .init("recent, short", [250, 1000], requests: 200_000) { .recent(span: 300, uses: 1) },
        .init("recent, long", [512, 1000, 4000], requests: 300_000) {
            .recent(span: 2500, uses: 2)
        },
        .init("drifting, slow", [250, 1000, 4000], requests: 300_000) {
            .drifting(skew: 0.9, keys: 20_000, every: 50)
        },
        .init("drifting, fast", [250, 1000, 4000], requests: 300_000) {
            .drifting(skew: 0.9, keys: 20_000, every: 3)
        },
    ]

    /// Recency, then loops, then recency: a window that fitted becomes wrong.
    private static let shifts: [SyntheticMix] = [
        .init("recent, loop, recent", [512, 513, 1000, 4096], requests: 700_000) {
            .phases([
                (200_000, .recent(span: 400, uses: 1)), (300_000, .loop(keys: 1050)),
                (200_000, .recent(span: 400, uses: 1)),
            ])
        },
        .init("quick shifts", [512, 1000], requests: 400_000) {
            .phases([
                (20_000, .recent(span: 400, uses: 1)), (20_000, .loop(keys: 1100)),
                (20_000, .zipf(skew: 0.9, keys: 10_000)),
            ])
        },
    ]

    private static let mixtures: [SyntheticMix] = [
        .init("database", [250, 1000, 2000, 4000], requests: 400_000) {
            .mixed([
                (0.4, .drifting(skew: 0.8, keys: 30_000, every: 20)),
                (0.2, .recent(span: 2000, uses: 1)), (0.2, .recent(span: 150, uses: 3)),
                (0.1, .scan), (0.1, .loop(keys: 3000)),
            ])
        },
        .init("web", [250, 1000, 4000], requests: 400_000) {
            .mixed([
                (0.7, .drifting(skew: 0.8, keys: 40_000, every: 30)),
                (0.2, .recent(span: 500, uses: 2)), (0.1, .scan),
            ])
        },
        .init("search", [512, 1000, 2000], requests: 200_000) {
            .mixed([
                (0.8, .phases([(6000, .loop(keys: 1500)), (3000, .loop(keys: 2500))])),
                (0.2, .zipf(skew: 0.7, keys: 3000)),
            ])
        },
    ]
}
