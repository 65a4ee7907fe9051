internal import KeelCore

/// How long a destination is left alone after a failure.
enum Backoff {
    /// Draws a pause.
    ///
    /// It grows with jitter, as `RetryPolicy` says, and is never shorter than a tenth of what it may
    /// be: a try right after a failure is a request for nothing. Where it has grown to the longest
    /// pause, that is what is waited at least, and the jitter comes on top.
    static func pause(
        after failures: Int,
        _ policy: RetryPolicy,
        _ random: @escaping @Sendable () -> UInt64
    ) -> Duration {
        var generator = ClosureGenerator(random: random)
        let drawn = policy.delay(before: failures, using: &generator)
        let bound = policy.longestDelay(before: failures)
        return bound >= policy.maximumDelay ? policy.maximumDelay + drawn : max(drawn, bound / 10)
    }
}

/// A generator over a closure.
private struct ClosureGenerator: RandomNumberGenerator {
    let random: @Sendable () -> UInt64
    mutating func next() -> UInt64 { random() }
}
