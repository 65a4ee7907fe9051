import Synchronization

/// A stall timeout for an exchange of unlimited duration.
final class StallWatch: Sendable {
    private struct State {
        var moments = 0
        var hasSentAll = false
        /// Whether time counts: the body has been opened, or there is none.
        var hasBegun: Bool
    }

    private let limit: Duration
    private let state: Mutex<State>

    /// Creates a watch; with `waitsForBody`, time counts only after ``observer`` has seen the start of the body.
    init(limit: Duration, waitsForBody: Bool) {
        self.limit = limit
        state = Mutex(State(hasBegun: !waitsForBody))
    }

    /// The observer of progress: the start of the body, and each chunk that the network has taken.
    var observer: TransferObserver {
        .progress { progress in
            self.state.withLock { state in
                state.moments += 1
                state.hasBegun = true
                state.hasSentAll = progress.completedBytes == progress.totalBytes
            }
        }
    }

    /// Records a response, which a server may send without reading the body.
    func answered() { state.withLock { $0.hasBegun = true } }

    private var moments: Int { state.withLock { $0.moments } }
    private var hasBegun: Bool { state.withLock { $0.hasBegun } }

    private var failure: TransportError {
        state.withLock { state in
            state.hasSentAll
                ? TransportError(.responseTimeout)
                : TransportError(.writeTimeout)
        }
    }

    private enum Outcome<Value: Sendable>: Sendable {
        case finished(Result<Value, TransportError>)
        case stalled
        case clockStopped
    }

    /// Runs `operation` and cancels it after a stall of one to two times the limit.
    ///
    /// The method returns only after `operation` has ended. Time counts only once the exchange has begun.
    func guarding<Value: Sendable>(
        _ clock: any Clock<Duration>,
        _ operation: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        let result = await withTaskGroup(
            of: Outcome<Value>.self,
            returning: Result<Value, TransportError>.self
        ) { group in
            group.addTask {
                do throws(TransportError) {
                    return .finished(.success(try await operation()))
                } catch {
                    return .finished(.failure(error))
                }
            }
            group.addTask {
                do {
                    try await self.sleepWhileMoving(clock)
                    return .stalled
                } catch {
                    return .clockStopped
                }
            }
            while let outcome = await group.next() {
                switch outcome {
                case .finished(let result):
                    group.cancelAll()
                    return result
                case .stalled:
                    let failure = failure
                    group.cancelAll()
                    await group.waitForAll()
                    return .failure(failure)
                case .clockStopped:
                    // The caller was canceled; the operation is canceled as well and reports it.
                    continue
                }
            }
            return .failure(TransportError(.cancelled))
        }
        return try result.get()
    }

    private func sleepWhileMoving(_ clock: any Clock<Duration>) async throws {
        var goesOn: Bool
        repeat {
            let seen = moments
            try await clock.sleep(for: limit)
            goesOn = !hasBegun || moments != seen
        } while goesOn
    }
}
