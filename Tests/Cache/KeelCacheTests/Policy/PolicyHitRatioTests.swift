import Testing

/// These take seconds; the benchmarks compare more policies on larger streams.
@Suite("Hit ratios of the policy")
struct PolicyHitRatioTests {
    struct Stream: CustomTestStringConvertible {
        let testDescription: String
        let keys: @Sendable () -> [Int]
        /// The required gain over LRU, in percentage points.
        let gain: Double
    }

    static let streams = [
        Stream(
            testDescription: "zipf",
            keys: { PolicyStream.zipf(keys: 10_000, count: 40_000, seed: 1) },
            gain: 5
        ),
        Stream(
            testDescription: "loop",
            keys: { PolicyStream.loop(keys: 1000, count: 30_000) },
            gain: 20
        ),
        Stream(
            testDescription: "recent",
            keys: { PolicyStream.recent(span: 200, count: 40_000, seed: 1) },
            gain: -1
        ),
        Stream(
            testDescription: "zipf and a loop",
            keys: {
                PolicyStream.mixed(
                    PolicyStream.zipf(keys: 5000, count: 20_000, seed: 1),
                    PolicyStream.loop(keys: 2000, count: 20_000)
                )
            },
            gain: 3
        ),
        Stream(
            testDescription: "recent, loop, recent",
            keys: {
                PolicyStream.recent(span: 200, count: 30_000, seed: 1)
                    + PolicyStream.loop(keys: 1000, count: 40_000)
                    + PolicyStream.recent(span: 150, count: 30_000, seed: 2)
            },
            gain: 5
        ),
    ]

    @Test(
        "The policy beats LRU where frequency matters and loses less than a point elsewhere",
        arguments: streams
    )
    func holdsAgainstLRU(_ stream: Stream) {
        let keys = stream.keys()
        for size in [250, 600] {
            var table = PolicyTable(countLimit: size)
            var naive = NaiveLRU(capacity: size)
            let (keel, lru) = (table.hitRatio(keys) * 100, naive.hitRatio(keys) * 100)
            #expect(keel - lru >= stream.gain, "size \(size): \(keel) against \(lru)")
            #expect(table.flaw == nil)
        }
    }
}
