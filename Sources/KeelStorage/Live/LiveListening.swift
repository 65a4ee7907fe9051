internal import KeelCore
internal import KeelDocuments
internal import Synchronization

/// Listens on behalf of a live value: again after each failure, and anew when its question changes.
///
/// Once begun by ``start(_:)`` it goes on until ``stop()``, which the owner calls when it is let go.
final class LiveListening: Sendable {
    private struct State {
        var nextID = 0
        /// What ends the rounds that are under way.
        var rounds: [Int: AsyncStream<Void>.Continuation] = [:]
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Begins to listen, unless it has begun.
    func start(_ round: @escaping @MainActor @Sendable () async -> Void) {
        state.withLock { state in
            guard state.task == nil else { return }
            state.task = Task { [weak self] in await self?.run(round) }
        }
    }

    /// Ends what ``start(_:)`` has begun.
    func stop() {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }

    /// Ends the rounds that are under way, so that the next ones ask the new question.
    func restart() {
        let rounds = state.withLock { state in
            defer { state.rounds = [:] }
            return state.rounds
        }
        for end in rounds.values { end.finish() }
    }

    /// Listens in rounds until the task is cancelled.
    ///
    /// - Parameter round: Listens to the question as it is then, until its task is cancelled. One that
    ///   returns earlier has nothing to wait for but another question.
    func run(_ round: @escaping @MainActor @Sendable () async -> Void) async {
        while !Task.isCancelled {
            let (changes, end) = AsyncStream.makeStream(of: Void.self)
            let id = state.withLock { state in
                state.nextID += 1
                state.rounds[state.nextID] = end
                return state.nextID
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await round() }
                for await _ in changes {}
                group.cancelAll()
            }
            state.withLock { $0.rounds[id] = nil }
        }
    }
}

/// The failures of one round in a row, and the pauses after them.
struct LiveFailures {
    private var count = 0
    private var generator = SystemRandomNumberGenerator()

    mutating func reset() { count = 0 }

    /// Waits before listening begins again: longer after each failure, half a minute at the most.
    ///
    /// - Returns: Whether it is to begin: not where the question itself is refused, and not in a task
    ///   that was cancelled.
    mutating func pause(after error: StorageError, on clock: any Clock<Duration>) async -> Bool {
        switch error.code {
        case .invalidArgument, .unsupported, .indexRequired, .encodingFailed: return false
        default: break
        }
        count += 1
        let pause = RetryPolicy.listening.delay(before: count, using: &generator)
        return (try? await clock.sleep(for: pause)) != nil
    }
}
