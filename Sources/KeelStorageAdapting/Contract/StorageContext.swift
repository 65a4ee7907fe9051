internal import KeelCore
public import KeelDocuments

/// The limits of a call, and who makes it.
///
/// It goes along with the task, not with each request. What stands between an app and its store makes
/// requests of its own: a migration writes back what it has read, a mirror reads twice, a transaction is
/// many requests. All of them are part of the one call and have its limits, without a line in any
/// decorator that could be forgotten; and requests stay values that can be compared and kept.
///
/// A limit is a duration where somebody sets it, because that is what a caller knows, and an instant of
/// that clock from then on: what waiting, repetitions and earlier requests have taken is not given to the
/// later ones. Over a network it is a duration again, since two machines' clocks differ.
///
/// **For adapters.** The front ends a call by cancelling it; an adapter that heeds cancellation needs to do
/// nothing more. One that hands a request to somebody else passes ``timeLeft`` on with it. Whatever an
/// adapter does for several callers at once, or after a call has returned, is not done for one of them: it
/// reads ``current`` when it is called, and does such work under ``withoutContext(_:)``.
public struct StorageContext: Sendable {
    /// The time by which a call has to be over.
    private struct Deadline: Sendable {
        let timer: DeadlineTimer
        let end: Duration
        /// What was allowed, for the message.
        let limit: Duration
    }

    @TaskLocal private static var bound: StorageContext?

    /// The context of the present task; without limits, and of the app itself, unless one was set.
    public static var current: StorageContext { bound ?? StorageContext() }

    /// Who asks; nil for the app itself.
    public let principal: StoragePrincipal?
    private let deadline: Deadline?

    /// Creates a context without limits, of the app itself.
    package init() { self.init(principal: nil, deadline: nil) }

    private init(principal: StoragePrincipal?, deadline: Deadline?) {
        self.principal = principal
        self.deadline = deadline
    }

    /// How much time the call has left, not positive once its time is over; nil for any.
    public var timeLeft: Duration? { deadline.map { $0.end - $0.timer.now } }

    /// Whether the call's time is over.
    package var isOver: Bool { timeLeft.map { $0 <= .zero } ?? false }

    /// Whether a call may take any time.
    package var isUnlimited: Bool { deadline == nil }

    /// The context with a limit of time from now on, unless it ends earlier already.
    package func limited(to limit: Duration, on clock: any Clock<Duration>) -> StorageContext {
        if let timeLeft, timeLeft <= limit { return self }
        let timer = DeadlineTimer.on(clock)
        let deadline = Deadline(timer: timer, end: timer.now + limit, limit: limit)
        return StorageContext(principal: principal, deadline: deadline)
    }

    /// The context of another caller.
    package func of(_ principal: StoragePrincipal) -> StorageContext {
        StorageContext(principal: principal, deadline: deadline)
    }

    /// Runs a closure that serves no single call, such as one that starts a task for many callers.
    ///
    /// Inside of it, ``current`` has no limits and no principal.
    public static func withoutContext<Value>(_ body: () -> Value) -> Value {
        $bound.withValue(nil, operation: body)
    }

    /// Does something under this context, which nothing ends.
    package func bind<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await Self.$bound.withValue(self, operation: body, isolation: isolation)
    }

    /// Runs a call under this context, and ends it when its time is over.
    ///
    /// The call is cancelled then, and waited for. What it could still complete is answered as usual.
    ///
    /// - Throws: What the call throws, with `StorageError/Code/timeout` in place of
    ///   `StorageError/Code/cancelled` and of passing failures if its time was over. The effect is that of
    ///   the call: a commit that had not begun has none.
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
            "the call has taken longer than \(limit)",
            effect: error?.effect ?? .none,
            operation: error?.operation,
            resource: error?.resource,
            cause: error
        )
    }
}
