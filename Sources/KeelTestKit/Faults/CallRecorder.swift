/// Records the calls of a double of your own, and lets them fail, wait or be answered as a test says.
///
/// A double of a protocol of the app is a recorder and what it answers as a rule:
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
/// A test says what happens to calls, and looks at them afterwards:
///
/// ```swift
/// let service = StubUserService(users: ["1": ann])
/// service.calls.script([.fail(.offline), .delay(.seconds(2))])
/// await #expect(throws: UserServiceError.offline) { try await service.user(id: "1") }
/// #expect(service.calls.all == [.user(id: "1")])
/// ```
///
/// A call is recorded before anything happens to it. Copies share one memory and one script, and any
/// number of tasks may call at once.
public struct CallRecorder<Call: Sendable, Failure: Error>: Sendable {
    private struct State: Sendable {
        var calls: [Call] = []
        var script: [CallReaction<Failure>?] = []
        var reaction: (@Sendable (Call) -> CallReaction<Failure>?)?
    }

    private let clock: any Clock<Duration>
    private let cancellation: Failure?
    private let state = Watched(State())

    /// Creates a recorder that has no calls and no script.
    ///
    /// - Parameters:
    ///   - clock: The clock on which delays are measured.
    ///   - cancellation: What a call throws whose task is cancelled during a delay. With nil the delay
    ///     ends, and the call goes on; a recorder of any error throws `CancellationError`.
    public init(clock: any Clock<Duration> = ContinuousClock(), cancellation: Failure? = nil) {
        self.clock = clock
        self.cancellation = cancellation ?? CancellationError() as any Error as? Failure
    }

    // MARK: For the double

    /// Records a call that returns nothing, and lets happen to it what the test says.
    ///
    /// - Throws: The error of the test.
    public func record(_ call: Call) async throws(Failure) {
        if case .fail(let error)? = try await reaction(to: call) { throw error }
    }

    /// Records a call and returns its answer: the one of the test, or else the usual one.
    ///
    /// An answer of the test that has not the type `Value` stops the program.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - usual: Returns the answer where the test has none for this call.
    /// - Returns: The answer.
    /// - Throws: The error of the test, or of `usual`.
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

    /// Records a call of a function that is not asynchronous, and returns its answer.
    ///
    /// Delays are left out. An answer of the test that has not the type `Value` stops the program.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - usual: Returns the answer where the test has none for this call.
    /// - Returns: The answer.
    /// - Throws: The error of the test, or of `usual`.
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

    /// All calls, in the order in which they came.
    public var all: [Call] { state.value.calls }

    /// How many calls there were.
    public var count: Int { state.value.calls.count }

    /// The call that came last.
    public var last: Call? { state.value.calls.last }

    /// Says what happens to the next calls, one after the other, behind what was said before.
    ///
    /// - Parameter reactions: What happens to each call; nil lets it go on as usual.
    public func script(_ reactions: [CallReaction<Failure>?]) {
        state.change { $0.script += reactions }
    }

    /// Says what happens to all calls for which ``script(_:)`` says nothing.
    ///
    /// - Parameter reaction: Returns what happens to a call; nil lets it go on as usual. It runs under
    ///   a lock, and must not call the recorder.
    public func react(_ reaction: @escaping @Sendable (Call) -> CallReaction<Failure>?) {
        state.change { $0.reaction = reaction }
    }

    /// Waits until there have been this many calls.
    ///
    /// - Parameter count: How many calls, those before included.
    /// - Returns: The first calls, as many as were waited for.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForCalls(_ count: Int) async throws -> [Call] {
        try await state.wait { state in
            state.calls.count >= count ? Array(state.calls.prefix(count)) : nil
        }
    }

    /// Forgets the calls so far, and what was said of calls to come.
    public func reset() { state.change { $0 = State() } }

    // MARK: One call

    /// Records a call and takes out what happens to it.
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
