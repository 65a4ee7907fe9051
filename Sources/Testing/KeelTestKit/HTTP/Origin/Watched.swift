import Synchronization

/// A value that tasks change and wait for.
package final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        let ticket: UInt64
        /// Tries to take the waiter's result and returns a closure that resumes the waiter, or nil.
        let attempt: (inout State) -> (@Sendable () -> Void)?
        let cancel: () -> Void
    }

    private enum Turn<Result: Sendable>: Sendable {
        case cancelled
        case taken(Result)
        case waits
    }

    private struct Contents {
        var state: State
        var waiters: [Waiter] = []
        var lastTicket: UInt64 = 0
    }

    private let contents: Mutex<Contents>

    package init(_ state: State) {
        contents = Mutex(Contents(state: state))
    }

    package var value: State { contents.withLock { $0.state } }

    /// Changes the value and resumes the tasks whose condition now holds.
    @discardableResult
    package func change<Result: Sendable>(
        _ change: @Sendable (inout State) -> Result
    ) -> Result {
        let (result, woken) = contents.withLock { contents in
            let result = change(&contents.state)
            var woken: [@Sendable () -> Void] = []
            contents.waiters.removeAll { waiter in
                guard let resume = waiter.attempt(&contents.state) else { return false }
                woken.append(resume)
                return true
            }
            return (result, woken)
        }
        for resume in woken { resume() }
        return result
    }

    /// Waits until `take` returns a value, and returns it.
    ///
    /// `take` runs under the lock and may change the value.
    ///
    /// - Throws: `CancellationError` if the task is canceled first.
    package func wait<Result: Sendable>(
        for take: @escaping @Sendable (inout State) -> Result?
    ) async throws -> Result {
        let ticket = contents.withLock { contents in
            contents.lastTicket += 1
            return contents.lastTicket
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Result, any Error>) in
                let turn = contents.withLock { contents -> Turn<Result> in
                    if Task.isCancelled { return .cancelled }
                    if let result = take(&contents.state) { return .taken(result) }
                    contents.waiters.append(
                        Waiter(
                            ticket: ticket,
                            attempt: { state in
                                guard let result = take(&state) else { return nil }
                                return { continuation.resume(returning: result) }
                            },
                            cancel: { continuation.resume(throwing: CancellationError()) }
                        )
                    )
                    return .waits
                }
                switch turn {
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .taken(let result): continuation.resume(returning: result)
                case .waits: break
                }
            }
        } onCancel: {
            let waiter = contents.withLock { contents -> Waiter? in
                guard let index = contents.waiters.firstIndex(where: { $0.ticket == ticket })
                else { return nil }
                return contents.waiters.remove(at: index)
            }
            waiter?.cancel()
        }
    }
}
