internal import Synchronization

/// A signal that wakes tasks waiting for an event, such as the next commit of a store.
package final class Signal: Sendable {
    private struct State {
        var generation: UInt64 = 0
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of times the signal was raised; read this before examining the data.
    package var generation: UInt64 { state.withLock { $0.generation } }

    package func raise() {
        let waiters: [UInt64: CheckedContinuation<Void, Never>]? = state.withLock { state in
            state.generation += 1
            // Usually no task is waiting.
            guard !state.waiters.isEmpty else { return nil }
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard let waiters else { return }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until the signal is raised after `generation` was read, or the task is canceled.
    package func wait(since generation: UInt64) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.generation != generation || Task.isCancelled { return true }
                    state.waiters[waiter] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }

    /// Waits like ``wait(since:)``, for at most `limit` on `clock`.
    package func wait(
        since generation: UInt64,
        upTo limit: Duration,
        on clock: any Clock<Duration>
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(since: generation) }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
