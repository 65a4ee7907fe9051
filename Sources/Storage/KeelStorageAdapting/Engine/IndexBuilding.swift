internal import Synchronization

/// Builds indexes while an adapter is used, in a task that ends with the adapter.
package final class IndexBuilding: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isWanted = false
        var isEnded = false
    }

    private let state = Mutex(State())

    package init() {}

    deinit { end() }

    /// Starts to build, unless a build is in progress, which then runs once more.
    ///
    /// - Parameter build: Builds until nothing is left, a step fails, or the task is canceled. It must not keep the
    ///   adapter alive.
    package func begin(_ build: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.isWanted = true
            guard state.task == nil, !state.isEnded else { return }
            state.task = Task(priority: .utility) { [weak self] in
                while self?.isWantedAgain() == true { await build() }
            }
        }
    }

    private func isWantedAgain() -> Bool {
        state.withLock { state in
            defer { state.isWanted = false }
            if !state.isWanted { state.task = nil }
            return state.isWanted
        }
    }

    package func wait() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }

    package func end() {
        let task = state.withLock { state in
            state.isEnded = true
            return state.task.take()
        }
        task?.cancel()
    }
}
