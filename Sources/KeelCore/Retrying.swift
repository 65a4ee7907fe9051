/// Calls `operation` until it succeeds, its error is not worth a repetition, or the policy is spent.
///
/// Cancelling the calling task ends the pause at once; the last error of `operation` is then
/// thrown, so that the caller learns what went wrong rather than only that it was stopped.
///
/// - Parameters:
///   - policy: How often and how patiently to try.
///   - clock: The clock that pauses are measured on.
///   - askedPause: How long the other side asks to be left alone, where its error says so. The
///     pause is then at least as long, also beyond the policy's longest pause.
///   - onRetry: Called before each pause with the error, the attempt that failed and the pause.
///   - shouldRetry: Whether this error is worth a repetition. By default, errors of Keel that say
///     they are transient are.
///   - operation: The call, given the number of the attempt, which counts from 1.
/// - Returns: The result of the first successful call.
/// - Throws: The error of the last call.
public func withRetry<Value, Failure: Error>(
    _ policy: RetryPolicy,
    clock: any Clock<Duration> = ContinuousClock(),
    askedPause: (Failure) -> Duration? = { _ in nil },
    onRetry: (_ error: Failure, _ attempt: Int, _ pause: Duration) -> Void = { _, _, _ in },
    shouldRetry: (Failure) -> Bool = { ($0 as? any KeelError)?.isTransient ?? false },
    operation: (_ attempt: Int) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    var generator = SystemRandomNumberGenerator()
    return try await withRetry(
        policy,
        clock: clock,
        using: &generator,
        askedPause: askedPause,
        onRetry: onRetry,
        shouldRetry: shouldRetry,
        operation: operation
    )
}

/// Calls `operation` like the function without a generator, and draws the pauses from this one.
///
/// With a seeded generator and a test clock, a test sees the same pauses each time.
///
/// - Parameters:
///   - policy: How often and how patiently to try.
///   - clock: The clock that pauses are measured on.
///   - generator: Where the pauses are drawn from.
///   - askedPause: How long the other side asks to be left alone, where its error says so.
///   - onRetry: Called before each pause with the error, the attempt that failed and the pause.
///   - shouldRetry: Whether this error is worth a repetition.
///   - operation: The call, given the number of the attempt, which counts from 1.
/// - Returns: The result of the first successful call.
/// - Throws: The error of the last call.
public func withRetry<Value, Failure: Error, Generator: RandomNumberGenerator>(
    _ policy: RetryPolicy,
    clock: any Clock<Duration> = ContinuousClock(),
    using generator: inout Generator,
    askedPause: (Failure) -> Duration? = { _ in nil },
    onRetry: (_ error: Failure, _ attempt: Int, _ pause: Duration) -> Void = { _, _, _ in },
    shouldRetry: (Failure) -> Bool = { ($0 as? any KeelError)?.isTransient ?? false },
    operation: (_ attempt: Int) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    // Asked only where a limit stands: reading the time is not free.
    let timeline = policy.totalLimit == nil ? nil : Timeline(clock)
    var attempt = 1
    while true {
        do throws(Failure) {
            return try await operation(attempt)
        } catch {
            guard attempt < policy.attempts, !Task.isCancelled, shouldRetry(error) else {
                throw error
            }
            let drawn = policy.delay(before: attempt, using: &generator)
            let pause = max(drawn, askedPause(error) ?? .zero)
            if let timeline, let limit = policy.totalLimit, timeline.now + pause > limit {
                throw error
            }
            onRetry(error, attempt, pause)
            guard (try? await clock.sleep(for: pause)) != nil else { throw error }
            attempt += 1
        }
    }
}
