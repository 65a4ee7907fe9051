package import KeelCore

/// A point in time after which work is given up.
package struct Deadline: Sendable {
    private let timer: DeadlineTimer
    private let end: Duration

    /// Creates a deadline that lies `limit` in the future.
    package init(in limit: Duration, on clock: any Clock<Duration>) {
        self.init(in: limit, on: DeadlineTimer.on(clock))
    }

    /// Creates a deadline that lies `limit` in the future and shares its timer with others.
    package init(in limit: Duration, on timer: DeadlineTimer) {
        self.timer = timer
        end = timer.now + limit
    }

    /// How much time is left; zero or less once the deadline has passed.
    package var remaining: Duration { end - timer.now }

    /// Runs `operation`, cancels it at the deadline and throws `expired` then.
    ///
    /// It returns only after `operation` has ended, so that nothing goes on behind the caller's
    /// back; an operation that ignores cancellation delays the error. The error takes over what is
    /// known of the attempts so far.
    package func run<Value: Sendable>(
        throwing expired: @autoclosure () -> TransportError,
        _ operation: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        let (result, wasReached) = await timer.run(until: end) {
            () async -> Result<Value, TransportError> in
            do throws(TransportError) {
                return .success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        guard wasReached else { return try result.get() }
        var error = expired()
        if case .failure(let failure) = result {
            error.attempts = failure.attempts
            error.retryRefusal = failure.retryRefusal
        }
        throw error
    }
}
