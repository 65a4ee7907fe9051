/// Tracked events, compared with other ways to keep an event on disk.
///
/// Documentation/Benchmarks.md has the targets.
enum AnalyticsGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        [
            calls("trackEvent, p50 / write(2) of its JSON", .keelAtMost(5), options, part: 0.5),
            calls("trackEvent, p99 / write(2) of its JSON", .info, options, part: 0.99),
            Measure(
                name: "trackEvent / SQLite, one transaction each",
                target: .atMost(0.2),
                keel: { try EventRound(options).keel() },
                peer: { try EventRound(options).table() }
            ),
            Measure(
                name: "trackEvent / one file each",
                target: .atMost(0.1),
                keel: { try EventRound(options).keel() },
                peer: { try EventRound(options).files(renamed: false) }
            ),
            Measure(
                name: "trackEvent / one file each, renamed",
                target: .info,
                keel: { try EventRound(options).keel() },
                peer: { try EventRound(options).files(renamed: true) }
            ),
        ]
    }

    /// Measures a quantile of the durations of single calls.
    private static func calls(
        _ name: String,
        _ target: Target,
        _ options: Options,
        part: Double
    ) -> Measure {
        Measure(
            name: name,
            target: target,
            keel: { try EventRound(options).keelCalls().quantile(part) },
            peer: { try EventRound(options).bareWrites().quantile(part) }
        )
    }
}
