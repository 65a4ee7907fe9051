/// How often, and after what pauses, a failed call is repeated.
///
/// The pause before repetition *n* is drawn evenly from zero to
/// `min(maximumDelay, baseDelay × multiplier^(n-1))`: "full jitter", which spreads the callers of a
/// server that has just come back (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture
/// Blog, 2015). Whether a call *may* be repeated is not decided here: that takes the error and the
/// area's knowledge of what the call may already have done.
public struct RetryPolicy: Sendable, Hashable {
    /// How many times a call is made at the most, the first time included; at least 1.
    public var attempts: Int

    /// The upper end of the first pause.
    public var baseDelay: Duration

    /// The upper end that no pause passes.
    public var maximumDelay: Duration

    /// How much the upper end grows from one pause to the next.
    public var multiplier: Double

    /// The time, counted from the start of the first call, after which no repetition begins.
    ///
    /// A pause that would pass it is not begun: the call ends with its last error at once. Nil is
    /// no limit.
    public var totalLimit: Duration?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: How many times a call is made at the most; less than 1 counts as 1.
    ///   - baseDelay: The upper end of the first pause.
    ///   - maximumDelay: The upper end that no pause passes.
    ///   - multiplier: How much the upper end grows from one pause to the next; at least 1.
    ///   - totalLimit: The time after which no repetition begins; nil is no limit.
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

    /// A policy with this many attempts and the usual pauses.
    public static func attempts(_ attempts: Int) -> RetryPolicy { RetryPolicy(attempts: attempts) }

    /// The longest pause that may precede repetition `repetition`, which counts from 1.
    public func longestDelay(before repetition: Int) -> Duration {
        // Doubling stops mattering long before the exponent overflows.
        var delay = baseDelay
        var steps = min(repetition, 64) - 1
        while steps > 0, delay < maximumDelay {
            delay = delay * multiplier
            steps -= 1
        }
        return min(delay, maximumDelay)
    }

    /// Draws the pause before repetition `repetition`, which counts from 1.
    public func delay(
        before repetition: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        longestDelay(before: repetition) * Double.random(in: 0...1, using: &generator)
    }
}
