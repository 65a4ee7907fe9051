import CacheSimulation

extension CacheGroup {
    /// Measures hit ratios on synthetic mixes, without timing.
    static func ratios(_ options: Options) -> [Measure] {
        let comparison = Lazily {
            guard !options.isQuick else {
                let mixes = SyntheticMix.small.map { $0.shortened(to: 2_000) }
                return MixComparison(mixes, policies: [.fixed])
            }
            let comparison = MixComparison(SyntheticMix.small + SyntheticMix.large)
            print(comparison.table)
            return comparison
        }
        let untuned = Lazily {
            let mixes = SyntheticMix.drawn(options.isQuick ? 1 : 30, seed: 20_261_129)
            let policies = PolicyName.others + [.unsampled]
            guard !options.isQuick else {
                return MixComparison(mixes.map { $0.shortened(to: 2_000) }, policies: policies)
            }
            let comparison = MixComparison(mixes, policies: policies, seed: 7)
            print(comparison.table)
            return comparison
        }
        return [
            Measure(
                name: "mean hit ratio / optimal",
                unit: "%",
                target: .partAtLeast(0.865),
                maximumRounds: 1,
                keel: { try await comparison.value().meanOfOptimal(.keel) * 100 },
                peer: { try await comparison.value().meanOfOptimal(.optimal) * 100 }
            ),
            Measure(
                name: "mean hit ratio / best other policy, untuned mixes",
                unit: "%",
                target: .partAtLeast(0.97),
                maximumRounds: 1,
                keel: {
                    try await untuned.value().mean(.keel, ofBestAmong: PolicyName.others) * 100
                },
                peer: { 100 }
            ),
            Measure(
                name: "points lost by sampling, untuned mixes",
                unit: "points",
                target: .keelAtMost(0.2),
                maximumRounds: 1,
                keel: {
                    let comparison = try await untuned.value()
                    return (comparison.mean(.unsampled) - comparison.mean(.keel)) * 100
                },
                peer: { .nan }
            ),
            Measure(
                name: "mixes > 1 point below LRU / W-TinyLFU's",
                unit: "",
                target: .keelAtMost(0),
                maximumRounds: 1,
                keel: { Double(losses(of: .keel, try await comparison.value())) },
                peer: { Double(losses(of: .fixed, try await comparison.value())) }
            ),
        ]
    }

    private static func losses(of policy: PolicyName, _ comparison: MixComparison) -> Int {
        comparison.rows.filter { row in
            guard let lru = row.ratios[.lru], let ratio = row.ratios[policy] else { return false }
            return (lru - ratio) * 100 > 1
        }.count
    }
}
