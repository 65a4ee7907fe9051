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
