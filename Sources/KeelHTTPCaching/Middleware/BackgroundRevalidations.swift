import Synchronization

/// The revalidations that go on after their caller has its reply, one for each stored response.
///
/// Each is a task of its own. Whoever owns this value cancels them all when it goes.
final class BackgroundRevalidations: Sendable {
    private struct State: Sendable {
        var tasks: [ValidationFlight.Subject: Task<Void, Never>] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// How many are under way.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a revalidation, unless one of the same response is under way or there are too many.
    ///
    /// - Returns: Whether it was started.
    func start(
        _ subject: ValidationFlight.Subject,
        _ operation: @escaping @Sendable () async -> Void
    ) -> Bool {
        state.withLock { state in
            guard state.tasks[subject] == nil, state.tasks.count < limit else { return false }
            state.tasks[subject] = Task { [weak self] in
                await operation()
                self?.end(subject)
            }
            return true
        }
    }

    /// Waits until none is under way.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.tasks.isEmpty { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Cancels all.
    func cancelAll() {
        let (tasks, waiting) = state.withLock { state in
            defer { state = State() }
            return (state.tasks.values.map { $0 }, state.waiting)
        }
        for task in tasks { task.cancel() }
        for continuation in waiting { continuation.resume() }
    }

    private func end(_ subject: ValidationFlight.Subject) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.tasks[subject] = nil
            guard state.tasks.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
