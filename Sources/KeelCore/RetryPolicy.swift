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

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: How many times a call is made at the most; less than 1 counts as 1.
    ///   - baseDelay: The upper end of the first pause.
    ///   - maximumDelay: The upper end that no pause passes.
    ///   - multiplier: How much the upper end grows from one pause to the next; at least 1.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(20),
        multiplier: Double = 2
    ) {
        self.attempts = max(1, attempts)
        self.baseDelay = max(.zero, baseDelay)
        self.maximumDelay = max(.zero, maximumDelay)
        self.multiplier = max(1, multiplier)
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

/// Calls `operation` until it succeeds, its error is not worth a repetition, or the policy is spent.
///
/// Cancelling the calling task ends the pause at once; the last error of `operation` is then
/// thrown, so that the caller learns what went wrong rather than only that it was stopped.
///
/// - Parameters:
///   - policy: How often and how patiently to try.
///   - clock: The clock that pauses are measured on.
///   - shouldRetry: Whether this error is worth a repetition. By default, errors of Keel that say
///     they are transient are.
///   - operation: The call, given the number of the attempt, which counts from 1.
/// - Returns: What the first successful call returned.
/// - Throws: The error of the last call.
public func withRetry<Value, Failure: Error>(
    _ policy: RetryPolicy,
    clock: any Clock<Duration> = ContinuousClock(),
    shouldRetry: (Failure) -> Bool = { ($0 as? any KeelError)?.isTransient ?? false },
    operation: (_ attempt: Int) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    var generator = SystemRandomNumberGenerator()
    var attempt = 1
    while true {
        do throws(Failure) {
            return try await operation(attempt)
        } catch {
            guard attempt < policy.attempts, !Task.isCancelled, shouldRetry(error) else {
                throw error
            }
            let pause = policy.delay(before: attempt, using: &generator)
            guard (try? await clock.sleep(for: pause)) != nil else { throw error }
            attempt += 1
        }
    }
}
