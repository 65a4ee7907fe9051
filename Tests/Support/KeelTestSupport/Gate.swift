internal import Synchronization

/// A gate that holds tasks until a test opens it, and counts them.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var begun = 0
        var cancelled = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of tasks that have reached the gate.
    package var begunCount: Int { state.withLock { $0.begun } }

    /// The number of tasks that were canceled at the gate.
    package var cancelledCount: Int { state.withLock { $0.cancelled } }

    /// Opens the gate for waiting and later tasks.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// Waits until the gate is open.
    ///
    /// - Returns: The number of this arrival, from 1.
    /// - Throws: `CancellationError` if the task is canceled at the gate.
    @discardableResult
    package func pass() async throws(CancellationError) -> Int {
        let ticket = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let passed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isOpen { return true }
                    state.waiting[ticket] = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        guard passed else {
            state.withLock { $0.cancelled += 1 }
            throw CancellationError()
        }
        return ticket
    }
}
