package import KeelCore

/// A point in time after which work is abandoned.
package struct Deadline: Sendable {
    private let timer: DeadlineTimer
    private let end: Duration

    package init(in limit: Duration, on clock: any Clock<Duration>) {
        self.init(in: limit, on: DeadlineTimer.on(clock))
    }

    package init(in limit: Duration, on timer: DeadlineTimer) {
        self.timer = timer
        end = timer.now + limit
    }

    /// The time left; zero or negative once the deadline has passed.
    package var remaining: Duration { end - timer.now }

    /// A deadline before this one, which leaves a tenth of the remaining time, and at most a second, for a substitute.
    package var early: Deadline {
        let rest = max(.zero, remaining)
        return Deadline(in: rest - min(rest / 10, .seconds(1)), on: timer)
    }

    /// Calls `expire` at the deadline unless the watch has ended by then.
    package func watch(_ expire: @escaping @Sendable () -> Void) -> DeadlineWatch {
        DeadlineWatch(timer: timer, entry: timer.watch(until: end, expire))
    }

    /// Runs `operation` and cancels it at the deadline.
    ///
    /// The method returns only after `operation` has ended. If the deadline has already passed, `operation` does not
    /// run.
    ///
    /// - Parameters:
    ///   - expired: The error for a missed deadline, which gets the attempts and the retry refusal of the operation's
    ///     error.
    ///   - isWhole: Whether a value returned after the deadline is usable, such as a complete response, whose request
    ///     took effect. The exchange of an unread body was canceled.
    ///   - operation: The work to do.
    /// - Returns: The value of the operation.
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

/// A callback at a deadline, without a task of its own.
package struct DeadlineWatch: Sendable {
    fileprivate let timer: DeadlineTimer
    fileprivate let entry: DeadlineEntry

    package func end() { timer.end(entry) }
}

/// A transport or a layer that lets no call outlast its deadline.
///
/// A transport ends the exchange itself when ``HTTPCall/endsAtDeadline`` is set. A layer waits only for the layers
/// below it, or at most until the deadline, and never turns a body in memory into a stream.
///
/// If a client's transport and all its layers conform, a call needs no child task for its deadline, which would take an
/// eighth of the time of a small request.
package protocol DeadlineEnforcing: Sendable {}
