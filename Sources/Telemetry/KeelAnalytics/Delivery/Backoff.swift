internal import KeelCore

/// The delay before retrying a destination after a failure.
enum Backoff {
    /// Returns a random delay.
    ///
    /// It grows as `RetryPolicy` says, and is at least a tenth of the policy's bound, since an
    /// immediate retry is pointless. At the maximum delay, the jitter is added on top.
    static func pause(
        after failures: Int,
        _ policy: RetryPolicy,
        _ random: @escaping @Sendable () -> UInt64
    ) -> Duration {
        var generator = ClosureGenerator(random: random)
        let drawn = policy.delay(before: failures, using: &generator)
        let bound = policy.maximumDelay(before: failures)
        return bound >= policy.maximumDelay ? policy.maximumDelay + drawn : max(drawn, bound / 10)
    }
}

private struct ClosureGenerator: RandomNumberGenerator {
    let random: @Sendable () -> UInt64
    mutating func next() -> UInt64 { random() }
}
