package import KeelCore

/// Limits how often a receiver is asked during the search for a record that it refuses.
///
/// Halving a batch retries immediately, which finds one bad record in a few requests. Without a
/// limit, a receiver that refuses everything would get twice as many requests as there are records.
struct RefusalPace: Sendable {
    private static let limit = 30
    private static let window = Duration.seconds(60)

    private var times: [Duration] = []

    /// Notes a refusal at a time on a timeline; returns how long to pause, or nil to continue immediately.
    mutating func pause(afterRefusalAt now: Duration) -> Duration? {
        times.removeAll { now - $0 >= Self.window }
        times.append(now)
        guard times.count >= Self.limit, let first = times.first else { return nil }
        return first + Self.window - now
    }
}

extension RetryPolicy {
    /// Returns a random delay, of at least a tenth of what the policy allows.
    ///
    /// At the maximum delay, the jitter is added on top.
    package func pause(
        after failures: Int,
        _ random: @escaping @Sendable () -> UInt64
    ) -> Duration {
        var generator = ClosureGenerator(random)
        let drawn = delay(before: failures, using: &generator)
        let bound = maximumDelay(before: failures)
        return bound >= maximumDelay ? maximumDelay + drawn : max(drawn, bound / 10)
    }
}
