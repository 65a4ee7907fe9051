internal import KeelCore
public import KeelDocuments

/// The time limit and the caller of a call.
///
/// The context belongs to the task rather than to each request: the requests that decorators make during a call share
/// its limits.
///
/// A limit becomes a deadline, so that waiting, retries and earlier requests reduce the time left for later requests.
///
/// The client ends a call by canceling it. An adapter that forwards a request to another service passes on
/// ``timeLeft``. Work for several callers, or work that continues after a call has returned, runs within
/// ``withoutContext(_:)``.
public struct StorageContext: Sendable {
    private struct Deadline: Sendable {
        let timer: DeadlineTimer
        let end: Duration
        let limit: Duration
    }

    @TaskLocal private static var bound: StorageContext?

    /// The context of the current task; without an explicit context, it has no limit and no principal.
    public static var current: StorageContext { bound ?? StorageContext() }

    /// The caller; nil for the app itself, for a server's own work, and for an anonymous caller of a server.
    public let principal: StoragePrincipal?
    /// The attempts of the call, if all of them are for the user of the first one.
    package let attempts: StorageAttempts?
    private let deadline: Deadline?

    package init() { self.init(principal: nil, deadline: nil) }

    private init(
        principal: StoragePrincipal?,
        deadline: Deadline?,
        attempts: StorageAttempts? = nil
    ) {
        self.principal = principal
        self.deadline = deadline
        self.attempts = attempts
    }

    /// The time left for the call, zero or negative after the deadline; nil without a limit.
    public var timeLeft: Duration? { deadline.map { $0.end - $0.timer.now } }

    package var isOver: Bool { timeLeft.map { $0 <= .zero } ?? false }

    package var isUnlimited: Bool { deadline == nil }

    package func limited(to limit: Duration, on clock: any Clock<Duration>) -> StorageContext {
        if let timeLeft, timeLeft <= limit { return self }
        let timer = DeadlineTimer.on(clock)
        let deadline = Deadline(timer: timer, end: timer.now + limit, limit: limit)
        return StorageContext(principal: principal, deadline: deadline, attempts: attempts)
    }

    package func of(_ principal: StoragePrincipal?) -> StorageContext {
        StorageContext(principal: principal, deadline: deadline, attempts: attempts)
    }

    /// Returns the context of a call that is for the same user as the others with these attempts.
    package func repeated(as attempts: StorageAttempts = StorageAttempts()) -> StorageContext {
        StorageContext(
            principal: principal,
            deadline: deadline,
            attempts: self.attempts ?? attempts
        )
    }

    /// Runs a closure without limits and without a principal, for example to start a task that serves many callers.
    public static func withoutContext<Value>(_ body: () -> Value) -> Value {
        $bound.withValue(nil, operation: body)
    }

    /// Runs a closure that starts a task with this context, without enforcing its deadline.
    package func starting<Value>(_ body: () -> Value) -> Value {
        Self.$bound.withValue(self, operation: body)
    }

    /// Runs a closure with this context, without enforcing its deadline.
    package func bind<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await Self.$bound.withValue(self, operation: body, isolation: isolation)
    }

    /// Runs a call with this context, without enforcing its deadline.
    package func perform<Value: Sendable>(
        _ call: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let outcome = await bind { () async -> Result<Value, StorageError> in
            do throws(StorageError) { return .success(try await call()) } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Runs a call with this context and cancels it at the deadline.
    ///
    /// The method waits for the canceled call to return. A call that completes anyway returns its result as usual.
    ///
    /// - Throws: The error of the call. After the deadline, `StorageError/Code/timeout` replaces
    ///   `StorageError/Code/cancelled` and transient errors. Its effect is that of the call's error, or `none` if the
    ///   call had not started.
    package func run<Value: Sendable>(
        _ call: @escaping @Sendable () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let outcome: @Sendable () async -> Result<Value, StorageError> = {
            do throws(StorageError) { return .success(try await call()) } catch {
                return .failure(error)
            }
        }
        let result = await Self.$bound.withValue(self) { () async -> Result<Value, StorageError> in
            guard let deadline else { return await outcome() }
            guard deadline.timer.now < deadline.end else { return .failure(timeout()) }
            let (result, wasReached) = await deadline.timer.run(until: deadline.end, outcome)
            guard wasReached, case .failure(let error) = result,
                error.code == .cancelled && !Task.isCancelled || error.isTransient
            else { return result }
            return .failure(timeout(after: error))
        }
        return try result.get()
    }

    private func timeout(after error: StorageError? = nil) -> StorageError {
        let limit = deadline.map { "\($0.limit)" } ?? "its limit"
        return StorageError(
            .timeout,
            "the call took longer than \(limit)",
            effect: error?.effect ?? .none,
            operation: error?.operation,
            resource: error?.resource,
            cause: error
        )
    }
}
