internal import KeelCore
internal import KeelDocuments
internal import Synchronization

/// Runs the rounds of listening of a live value, a new one when its query changes; the owner calls ``stop()`` in its
/// `deinit`.
final class LiveListening: Sendable {
    private struct State {
        var nextID = 0
        var rounds: [Int: AsyncStream<Void>.Continuation] = [:]
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    func start(_ round: @escaping @MainActor @Sendable () async -> Void) {
        state.withLock { state in
            guard state.task == nil else { return }
            state.task = Task { [weak self] in await self?.run(round) }
        }
    }

    func stop() {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }

    /// Ends the current rounds, so that the next ones use the new query.
    func restart() {
        let rounds = state.withLock { state in
            defer { state.rounds = [:] }
            return state.rounds
        }
        for end in rounds.values { end.finish() }
    }

    /// Listens in rounds until the task is canceled.
    ///
    /// - Parameter round: Listens to the current query until its task is canceled. If it returns earlier, the next one
    ///   begins with ``restart()``.
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

struct LiveFailures {
    private var count = 0
    private var generator = SystemRandomNumberGenerator()

    mutating func reset() { count = 0 }

    /// Pauses before listening begins again.
    ///
    /// - Returns: Whether to listen again: false if the query itself is refused, or the task is canceled.
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
