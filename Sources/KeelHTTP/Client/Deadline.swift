/// A point in time after which work is given up.
package struct Deadline: Sendable {
    private let sleepUntilReached: @Sendable () async throws -> Void

    /// Creates a deadline that lies `limit` in the future.
    package init(in limit: Duration, on clock: any Clock<Duration>) {
        self = Self.make(limit, clock)
    }

    private init(sleepUntilReached: @escaping @Sendable () async throws -> Void) {
        self.sleepUntilReached = sleepUntilReached
    }

    private static func make<C: Clock<Duration>>(_ limit: Duration, _ clock: C) -> Deadline {
        let end = clock.now.advanced(by: limit)
        return Deadline { try await clock.sleep(until: end, tolerance: nil) }
    }

    private enum Outcome<Value: Sendable>: Sendable {
        case finished(Result<Value, TransportError>)
        case reached
        case clockStopped
    }

    /// Runs `operation`, cancels it at the deadline and throws `expired` then.
    ///
    /// It returns only after `operation` has ended, so that nothing goes on behind the caller's
    /// back; an operation that ignores cancellation delays the error.
    package func run<Value: Sendable>(
        throwing expired: TransportError,
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
                    try await sleepUntilReached()
                    return .reached
                } catch {
                    return .clockStopped
                }
            }
            while let outcome = await group.next() {
                switch outcome {
                case .finished(let result):
                    group.cancelAll()
                    return result
                case .reached:
                    group.cancelAll()
                    await group.waitForAll()
                    return .failure(expired)
                case .clockStopped:
                    // The caller was cancelled: the operation learns it too, and says so.
                    continue
                }
            }
            return .failure(TransportError(.cancelled))
        }
        return try result.get()
    }
}
