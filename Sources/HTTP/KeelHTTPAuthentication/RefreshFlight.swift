import KeelHTTP
import Synchronization

final class RefreshFlight: Sendable {
    typealias Outcome = Result<Void, AuthenticationError>

    private struct State {
        var outcome: Outcome?
        var isAbandoned = false
        var task: Task<Void, Never>?
        var next = 0
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Waits for the outcome; cancellation ends only this wait.
    func outcome() async -> Outcome {
        let waiter = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .failure(AuthenticationError(.cancelled)) }
                    if let outcome = state.outcome { return outcome }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?
                .resume(returning: .failure(AuthenticationError(.cancelled)))
        }
    }

    func attach(_ task: Task<Void, Never>) {
        // A task that has ended its refresh may still be cleaning up and must not be canceled.
        let isAbandoned = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    func end(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            state.task = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Cancels the refresh of a session that has ended and resumes all waiting callers.
    func abandon(_ error: AuthenticationError) {
        let task = state.withLock { state in
            state.isAbandoned = true
            return state.task.take()
        }
        end(.failure(error))
        task?.cancel()
    }
}
