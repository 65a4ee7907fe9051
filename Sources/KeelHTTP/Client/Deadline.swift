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

    /// Calls `expire` at the deadline, unless the watch has ended by then.
    package func watch(_ expire: @escaping @Sendable () -> Void) -> DeadlineWatch {
        DeadlineWatch(timer: timer, entry: timer.watch(until: end, expire))
    }

    /// Runs `operation` and cancels it at the deadline.
    ///
    /// It returns only after `operation` has ended, so that nothing goes on behind the caller's
    /// back; an operation that ignores cancellation delays the error. After the deadline nothing is
    /// begun.
    ///
    /// - Parameters:
    ///   - expired: The error for what is not done by the deadline. It takes over what is known of
    ///     the attempts so far.
    ///   - isWhole: Whether a value that came after the deadline is of use as it is. A reply whose
    ///     body is still to be read is not: its exchange was cancelled. A whole answer is, and its
    ///     request has had its effect, so that its sender must learn of it.
    ///   - operation: What is done.
    /// - Returns: What the operation returned.
    /// - Throws: `expired`, or the error with which the operation failed before the deadline.
    package func run<Value: Sendable>(
        throwing expired: @autoclosure () -> TransportError,
        keepingLate isWhole: (Value) -> Bool = { _ in false },
        _ operation: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        guard remaining > .zero else { throw expired() }
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
        switch result {
        case .success(let value):
            if isWhole(value) { return value }
        case .failure(let failure):
            error.attempts = failure.attempts
            error.retryRefusal = failure.retryRefusal
        }
        throw error
    }
}

/// What waits for a deadline without a task of its own.
package struct DeadlineWatch: Sendable {
    fileprivate let timer: DeadlineTimer
    fileprivate let entry: DeadlineEntry

    /// Ends the watch.
    package func end() { timer.end(entry) }
}

/// A transport or a layer that lets no call outlast its deadline.
///
/// A transport ends the exchange of a call by itself where ``HTTPCall/endsAtDeadline`` asks for it.
/// A layer waits for nothing but the layers below it, or not beyond the deadline, and keeps a body
/// in memory there.
///
/// Where all of a client are of this kind, a call needs no task that its deadline could cancel. Such
/// a task wakes up another thread, and would be an eighth of the time of a small request.
package protocol DeadlineKeeping: Sendable {}
