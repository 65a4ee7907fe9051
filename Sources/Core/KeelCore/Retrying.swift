/// Calls `operation` until it succeeds, fails with an error that is not retried, or reaches a limit of the policy.
///
/// Cancellation of the calling task ends a pause at once, and the last error of `operation` is thrown.
///
/// - Parameters:
///   - policy: The number of attempts, and the pauses between them.
///   - clock: The clock of the pauses.
///   - serverDelay: The pause that the server asks for in its error, if any. The actual pause is at least as long, even
///     beyond the policy's maximum.
///   - onRetry: Called before each pause with the error, the number of the failed attempt and the pause.
///   - shouldRetry: Returns whether to retry after an error; by default, after transient errors of Keel.
///   - operation: The call, given the number of the attempt, counted from 1.
/// - Returns: The result of the first successful attempt.
/// - Throws: The error of the last attempt.
public func withRetry<Value, Failure: Error>(
    _ policy: RetryPolicy,
    clock: any Clock<Duration> = ContinuousClock(),
    serverDelay: (Failure) -> Duration? = { _ in nil },
    onRetry: (_ error: Failure, _ attempt: Int, _ pause: Duration) -> Void = { _, _, _ in },
    shouldRetry: (Failure) -> Bool = { ($0 as? any KeelError)?.isTransient ?? false },
    operation: (_ attempt: Int) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    var generator = SystemRandomNumberGenerator()
    return try await withRetry(
        policy,
        clock: clock,
        using: &generator,
        serverDelay: serverDelay,
        onRetry: onRetry,
        shouldRetry: shouldRetry,
        operation: operation
    )
}

/// Calls `operation` like the function without a generator, drawing the pauses from the given one, for tests.
public func withRetry<Value, Failure: Error, Generator: RandomNumberGenerator>(
    _ policy: RetryPolicy,
    clock: any Clock<Duration> = ContinuousClock(),
    using generator: inout Generator,
    serverDelay: (Failure) -> Duration? = { _ in nil },
    onRetry: (_ error: Failure, _ attempt: Int, _ pause: Duration) -> Void = { _, _, _ in },
    shouldRetry: (Failure) -> Bool = { ($0 as? any KeelError)?.isTransient ?? false },
    operation: (_ attempt: Int) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    // Only needed for a limit: reading the time has a cost.
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
            let pause = max(drawn, serverDelay(error) ?? .zero)
            if let timeline, let limit = policy.totalLimit, timeline.now + pause > limit {
                throw error
            }
            onRetry(error, attempt, pause)
            guard (try? await clock.sleep(for: pause)) != nil else { throw error }
            attempt += 1
        }
    }
}
