internal import Synchronization

/// A recorder for your own doubles that makes calls fail, wait or return a scripted value.
///
/// A double of one of the app's protocols consists of a recorder and the default answers:
///
/// ```swift
/// struct StubUserService: UserService {
///     enum Call: Hashable {
///         case user(id: String)
///         case delete(id: String)
///     }
///
///     let calls = CallRecorder<Call, UserServiceError>(cancellation: .cancelled)
///     var users: [String: User] = [:]
///
///     func user(id: String) async throws(UserServiceError) -> User {
///         try await calls.answer(.user(id: id)) { () throws(UserServiceError) in
///             guard let user = users[id] else { throw .notFound }
///             return user
///         }
///     }
///
///     func delete(id: String) async throws(UserServiceError) {
///         try await calls.record(.delete(id: id))
///     }
/// }
/// ```
///
/// A test scripts reactions and inspects the recorded calls:
///
/// ```swift
/// let service = StubUserService(users: ["1": ann])
/// service.calls.script([.fail(.offline), .delay(.seconds(2))])
/// await #expect(throws: UserServiceError.offline) { try await service.user(id: "1") }
/// #expect(service.calls.all == [.user(id: "1")])
/// ```
///
/// A call is recorded before anything happens to it. Copies share one record and one script. Any number of tasks may
/// use it.
public struct CallRecorder<Call: Sendable, Failure: Error>: Sendable {
    private struct State: Sendable {
        var calls: [Call] = []
        var script: [CallReaction<Failure>?] = []
        var reaction: (@Sendable (Call) -> CallReaction<Failure>?)?
    }

    private let clock: any Clock<Duration>
    private let cancellation: Failure?
    private let state = Watched(State())

    /// Creates a recorder without calls and without a script.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures delays.
    ///   - cancellation: The error of a call whose task is canceled during a delay. With nil, the call then proceeds,
    ///     except that a recorder whose `Failure` admits `CancellationError` throws that.
    public init(clock: any Clock<Duration> = ContinuousClock(), cancellation: Failure? = nil) {
        self.clock = clock
        self.cancellation = cancellation ?? CancellationError() as any Error as? Failure
    }

    // MARK: For the double

    /// Records a call that returns nothing and applies the scripted reaction; a scripted answer has no effect.
    ///
    /// - Throws: The scripted error, or that for a task canceled during a delay.
    public func record(_ call: Call) async throws(Failure) {
        if case .fail(let error)? = try await reaction(to: call) { throw error }
    }

    /// Records a call and returns the scripted answer, or else that of `usual`.
    ///
    /// A scripted answer that is not a `Value` stops the program.
    public func answer<Value>(
        _ call: Call,
        otherwise usual: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        switch try await reaction(to: call) {
        case .fail(let error)?: throw error
        case .answer(let value)?: return Self.answer(value, to: call)
        case .delay?, nil: return try await usual()
        }
    }

    /// Records a call of a synchronous function and returns the scripted answer, or else that of `usual`.
    ///
    /// Delays are skipped. A scripted answer that is not a `Value` stops the program.
    public func answerAtOnce<Value>(
        _ call: Call,
        otherwise usual: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch note(call)?.withoutDelay {
        case .fail(let error)?: throw error
        case .answer(let value)?: return Self.answer(value, to: call)
        case .delay?, nil: return try usual()
        }
    }

    // MARK: For the test

    /// All calls, in order.
    public var all: [Call] { state.value.calls }

    /// The number of calls.
    public var count: Int { state.value.calls.count }

    /// The most recent call.
    public var last: Call? { state.value.calls.last }

    /// Appends reactions to the script, one for each of the next calls.
    ///
    /// - Parameter reactions: The reaction to each call; nil lets it proceed as usual.
    public func script(_ reactions: [CallReaction<Failure>?]) {
        state.change { $0.script += reactions }
    }

    /// Sets the reaction to all calls that ``script(_:)`` does not cover.
    ///
    /// - Parameter reaction: Returns the reaction to a call; nil lets it proceed as usual. It runs under a lock and
    ///   must not call the recorder.
    public func react(_ reaction: @escaping @Sendable (Call) -> CallReaction<Failure>?) {
        state.change { $0.reaction = reaction }
    }

    /// Waits until the given number of calls has been recorded, including earlier ones.
    ///
    /// - Parameter count: The number of calls.
    /// - Returns: The first `count` calls.
    /// - Throws: `CancellationError` if the task is canceled.
    @discardableResult
    public func waitForCalls(_ count: Int) async throws -> [Call] {
        try await state.wait { state in
            state.calls.count >= count ? Array(state.calls.prefix(count)) : nil
        }
    }

    /// Discards the recorded calls, the script and the reaction.
    public func reset() { state.change { $0 = State() } }

    // MARK: One call

    private func note(_ call: Call) -> CallReaction<Failure>? {
        state.change { state in
            state.calls.append(call)
            guard state.script.isEmpty else { return state.script.removeFirst() }
            return state.reaction?(call)
        }
    }

    private func reaction(to call: Call) async throws(Failure) -> CallReaction<Failure>? {
        guard let reaction = note(call) else { return nil }
        do {
            return try await reaction.delay(on: clock)
        } catch {
            if let cancellation { throw cancellation }
            return reaction.withoutDelay
        }
    }

    private static func answer<Value>(_ value: any Sendable, to call: Call) -> Value {
        guard let answer = value as? Value else {
            preconditionFailure(
                "The answer to \(call) is a \(type(of: value)) and not a \(Value.self)."
            )
        }
        return answer
    }
}

/// The scripted outcome of one call recorded by a ``CallRecorder``.
public enum CallReaction<Failure: Error>: Sendable {
    /// The call fails.
    case fail(Failure)
    /// The call returns this value, which must have the call's return type.
    case answer(any Sendable)
    /// The call is delayed by this duration on the recorder's clock, then the other reaction applies; nil lets it
    /// proceed as usual.
    indirect case delay(Duration, then: CallReaction?)

    /// Delays the call on the recorder's clock, then lets it proceed as usual.
    public static func delay(_ duration: Duration) -> CallReaction { .delay(duration, then: nil) }
}

extension CallReaction: DelayingFault {
    var initialDelay: (duration: Duration, rest: CallReaction?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}

/// The calls of a double that records; its copies share one memory.
final class CallMemory<Call: Sendable>: Sendable {
    private let calls = Mutex<[Call]>([])

    var all: [Call] { calls.withLock { $0 } }

    func add(_ call: Call) { calls.withLock { $0.append(call) } }

    func forget() { calls.withLock { $0 = [] } }
}
