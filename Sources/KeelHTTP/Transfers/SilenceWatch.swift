import Synchronization

/// Notices when an exchange that may take long has come to a stop.
final class SilenceWatch: Sendable {
    private struct State {
        var moments = 0
        var hasSentAll = false
        /// Whether time counts: the body was opened, or there is none to be opened.
        var hasBegun: Bool
    }

    private let limit: Duration
    private let state: Mutex<State>

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - limit: How long nothing may move.
    ///   - waitsForBody: Whether time counts only from when ``observer`` sees the body's start.
    init(limit: Duration, waitsForBody: Bool) {
        self.limit = limit
        state = Mutex(State(hasBegun: !waitsForBody))
    }

    /// What counts as movement: the start of the body, and each piece that the network has taken.
    var observer: TransferObserver {
        .progress { progress in
            self.state.withLock { state in
                state.moments += 1
                state.hasBegun = true
                state.hasSentAll = progress.completedBytes == progress.totalBytes
            }
        }
    }

    /// Takes note of an answer, which a server may give without reading the body.
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
        case silent
        case clockStopped
    }

    /// Runs `operation` and cancels it when nothing has moved for the whole limit since it has
    /// begun, at the latest after two of them; it returns only after `operation` has ended.
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
                    return .silent
                } catch {
                    return .clockStopped
                }
            }
            while let outcome = await group.next() {
                switch outcome {
                case .finished(let result):
                    group.cancelAll()
                    return result
                case .silent:
                    let failure = failure
                    group.cancelAll()
                    await group.waitForAll()
                    return .failure(failure)
                case .clockStopped:
                    // The caller was cancelled: the operation learns it too, and says so.
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
