/// The hit ratios of all policies on synthetic mixes.
public struct MixComparison: Sendable {
    /// The ratios on one mix with one cache size.
    public struct Row: Sendable {
        /// The name of the mix.
        public let mix: String
        /// The cache size, in keys.
        public let size: Int
        /// The hit ratio of each policy, from 0 to 1.
        public let ratios: [PolicyName: Double]

        /// The points out of 100 by which Keel is below LRU; negative if it is above.
        public var lossToLRU: Double { ((ratios[.lru] ?? 0) - (ratios[.keel] ?? 0)) * 100 }
    }

    /// One row per mix and size.
    public let rows: [Row]

    /// Runs policies on synthetic mixes.
    ///
    /// - Parameters:
    ///   - mixes: The mixes, each with its cache sizes.
    ///   - policies: The policies; `lru`, `keel` and `optimal` always run.
    ///   - seed: The seed; equal seeds give equal figures.
    public init(
        _ mixes: [SyntheticMix],
        policies: [PolicyName] = PolicyName.usual,
        seed: UInt64 = 1
    ) {
        let policies = Set(policies).union([.lru, .keel, .optimal])
        var rows: [Row] = []
        for mix in mixes {
            let trace = mix.trace(seed: seed)
            for size in mix.sizes {
                var ratios: [PolicyName: Double] = [:]
                for policy in policies {
                    ratios[policy] = policy.hitRatio(on: trace, capacity: size, seed: seed)
                }
                rows.append(Row(mix: mix.name, size: size, ratios: ratios))
            }
        }
        self.rows = rows
    }

    /// Returns the mean over all rows of a policy's ratio, relative to the optimal one.
    ///
    /// - Parameter policy: The policy.
    /// - Returns: From 0 to 1; rows in which no policy can hit are ignored.
    public func meanOfOptimal(_ policy: PolicyName) -> Double {
        let parts = rows.compactMap { row -> Double? in
            guard let ratio = row.ratios[policy], let optimal = row.ratios[.optimal], optimal > 0
            else { return nil }
            return ratio / optimal
        }
        return parts.isEmpty ? 0 : parts.reduce(0, +) / Double(parts.count)
    }

    /// Returns the mean of a policy's ratio over all rows, each relative to the best of other policies in that row.
    ///
    /// The comparison must have run all of them. Rows in which none of the others hits are ignored.
    public func mean(_ policy: PolicyName, ofBestAmong others: [PolicyName]) -> Double {
        let parts = rows.compactMap { row -> Double? in
            guard let ratio = row.ratios[policy],
                let best = others.compactMap({ row.ratios[$0] }).max(), best > 0
            else { return nil }
            return ratio / best
        }
        return parts.isEmpty ? 0 : parts.reduce(0, +) / Double(parts.count)
    }

    /// Returns the mean hit ratio of a policy, from 0 to 1.
    public func mean(_ policy: PolicyName) -> Double {
        let ratios = rows.compactMap { $0.ratios[policy] }
        return ratios.isEmpty ? 0 : ratios.reduce(0, +) / Double(ratios.count)
    }

    /// The figures as a Markdown table, hits in percent.
    public var table: String {
        let policies = PolicyName.allCases.filter { rows.first?.ratios[$0] != nil }
        var lines = [
            "| mix | size | " + policies.map(\.rawValue).joined(separator: " | ") + " |",
            "|---|" + String(repeating: "---|", count: policies.count + 1),
        ]
        for row in rows {
            let cells = policies.map { Self.text(row.ratios[$0] ?? 0, scale: 100) }
            lines.append("| \(row.mix) | \(row.size) | " + cells.joined(separator: " | ") + " |")
        }
        let means = policies.map { Self.text(meanOfOptimal($0), scale: 1000) }
        lines.append(
            "| mean, in thousandths of optimal | | " + means.joined(separator: " | ") + " |"
        )
        return lines.joined(separator: "\n")
    }

    /// Returns a number with one decimal digit.
    private static func text(_ number: Double, scale: Double) -> String {
        let tenths = Int((number * scale * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
