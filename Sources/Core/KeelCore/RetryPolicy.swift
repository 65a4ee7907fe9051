/// The number of attempts of a call, and the pauses between them.
///
/// The pause before retry *n* is uniformly random between zero and `min(maximumDelay, baseDelay × multiplier^(n-1))`:
/// "full jitter", which spreads the callers of a server that has just recovered (M. Brooker, "Exponential Backoff And
/// Jitter", AWS Architecture Blog, 2015). Whether a call may be repeated depends on the error and on what the call may
/// already have done: the policy does not decide it.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first one; at least 1.
    public var attempts: Int

    /// The upper bound of the first pause.
    public var baseDelay: Duration

    /// The maximum upper bound of a pause.
    public var maximumDelay: Duration

    /// The factor by which the upper bound grows with each pause.
    public var multiplier: Double

    /// The time since the start of the first attempt after which no retry begins; nil for no limit.
    ///
    /// If a pause would exceed the limit, the call ends with its last error at once.
    public var totalLimit: Duration?

    /// Creates a policy; fewer than 1 attempts, and a multiplier below 1, count as 1.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(20),
        multiplier: Double = 2,
        totalLimit: Duration? = nil
    ) {
        self.attempts = max(1, attempts)
        self.baseDelay = max(.zero, baseDelay)
        self.maximumDelay = max(.zero, maximumDelay)
        self.multiplier = max(1, multiplier)
        self.totalLimit = totalLimit
    }

    /// A policy that makes each call once.
    public static let never = RetryPolicy(attempts: 1)

    /// Returns a policy with a number of attempts and the default pauses.
    public static func attempts(_ attempts: Int) -> RetryPolicy { RetryPolicy(attempts: attempts) }

    /// Returns the longest possible pause before a retry, counted from 1.
    public func maximumDelay(before repetition: Int) -> Duration {
        // The maximum is reached long before the exponent overflows.
        var delay = baseDelay
        var steps = min(repetition, 64) - 1
        let factor = max(1, multiplier)
        while steps > 0, delay > .zero, delay < maximumDelay {
            // A product with a large or infinite factor is not a duration.
            guard delay < maximumDelay / factor else { return maximumDelay }
            delay = delay * factor
            steps -= 1
        }
        return min(delay, maximumDelay)
    }

    /// Returns a random pause before a retry, counted from 1.
    public func delay(
        before repetition: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        maximumDelay(before: repetition) * Double.random(in: 0...1, using: &generator)
    }
}
