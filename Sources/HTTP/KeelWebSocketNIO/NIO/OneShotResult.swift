#if WebSocket
import KeelWebSocket
import Synchronization

/// A result that one task waits for and the first caller provides.
///
/// Cancellation of the waiting task and a timeout are results as well: a late provider cleans up.
final class OneShotResult<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, WebSocketError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case given(Outcome)
    }

    private let state = Mutex(State.open)

    /// Provides the result; returns false if there is one already.
    @discardableResult
    func give(_ outcome: Outcome) -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            switch state {
            case .given: return (false, CheckedContinuation<Outcome, Never>?.none)
            case .open:
                state = .given(outcome)
                return (true, nil)
            case .awaited(let waiter):
                state = .given(outcome)
                return (true, waiter)
            }
        }
        waiter?.resume(returning: outcome)
        return isFirst
    }

    var isGiven: Bool {
        state.withLock { state in
            if case .given = state { return true }
            return false
        }
    }

    /// Waits for the result; may be called once.
    func wait() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let known = state.withLock { state -> Outcome? in
                    if case .given(let outcome) = state { return outcome }
                    state = .awaited(waiter)
                    return nil
                }
                if let known { waiter.resume(returning: known) }
            }
        } onCancel: {
            give(.failure(WebSocketError(.cancelled)))
        }
    }

    /// Waits for the result; after the limit, the result is `expired`.
    func wait(
        upTo limit: Duration,
        on clock: any Clock<Duration>,
        else expired: WebSocketError
    ) async -> Outcome {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                self.give(.failure(expired))
            }
            let outcome = await wait()
            group.cancelAll()
            return outcome
        }
    }
}
#endif
