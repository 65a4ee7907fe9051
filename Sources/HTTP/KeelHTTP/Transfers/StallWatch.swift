import Synchronization

final class StallWatch: Sendable {
    private struct State {
        var moments = 0
        var hasSentAll = false
        var hasBegun: Bool
        var stall: TransportError?
    }

    private let limit: Duration
    private let state: Mutex<State>

    /// Creates a watch; with `waitsForBody`, time counts only after the start of the body.
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

    /// Records a response; a server may not have read the body.
    func answered() { state.withLock { $0.hasBegun = true } }

    private var moments: Int { state.withLock { $0.moments } }
    private var hasBegun: Bool { state.withLock { $0.hasBegun } }

    private func noteStall() {
        state.withLock { state in
            state.stall = TransportError(state.hasSentAll ? .responseTimeout : .writeTimeout)
        }
    }

    /// Runs `operation` and cancels it after a stall of one to two times the limit; returns once it has ended.
    func guarding<Value: Sendable>(
        _ clock: any Clock<Duration>,
        _ operation: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        let result = await withStallTimeout(
            limit,
            on: clock,
            moments: { self.hasBegun ? self.moments : nil },
            onStall: noteStall,
            operation
        )
        // The server may have answered just as the exchange was canceled; the body of that answer may then end with the
        // cancellation, which is not that of the caller.
        guard case .failure = result, !Task.isCancelled, let reason = state.withLock({ $0.stall })
        else { return try result.get() }
        throw reason
    }
}

private enum StallOutcome<Value: Sendable>: Sendable {
    case finished(Result<Value, TransportError>)
    case stalled
    case clockStopped
}

/// Runs an operation and cancels it after a stall of one to two times the limit; returns once it has ended.
///
/// `moments` returns the number of moments of progress so far, or nil while time does not count. `onStall` is called
/// before a stalled operation is canceled.
package func withStallTimeout<Value: Sendable>(
    _ limit: Duration,
    on clock: any Clock<Duration>,
    moments: @escaping @Sendable () -> Int?,
    onStall: () -> Void,
    _ operation: @escaping @Sendable () async throws(TransportError) -> Value
) async -> Result<Value, TransportError> {
    await withTaskGroup(of: StallOutcome<Value>.self) { group in
        group.addTask {
            do throws(TransportError) {
                return .finished(.success(try await operation()))
            } catch {
                return .finished(.failure(error))
            }
        }
        group.addTask {
            while true {
                let seen = moments()
                guard (try? await clock.sleep(for: limit)) != nil else { return .clockStopped }
                if let now = moments(), now == seen { return .stalled }
            }
        }
        while let outcome = await group.next() {
            switch outcome {
            case .finished(let result):
                group.cancelAll()
                return result
            case .stalled:
                onStall()
                group.cancelAll()
            case .clockStopped:
                // The caller was canceled; the operation is canceled as well and reports it.
                continue
            }
        }
        return .failure(TransportError(.cancelled))
    }
}

/// The layer that ends long uploads that have stalled.
///
/// It is next to the transport: a call that waits in a higher layer, for a token or a place, has not begun.
struct StallTimeoutMiddleware: HTTPMiddleware, DeadlineEnforcing {
    let clock: any Clock<Duration>

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let limit = call.options.stallTimeout else { return try await next(call) }
        let body = call.body.flatMap { $0.bytes == nil ? $0 : nil }
        let watch = StallWatch(limit: limit, waitsForBody: body != nil)
        var watched = call
        if let body { watched.body = body.observed(by: watch.observer) }
        let exchange = watched
        var reply = try await watch.guarding(clock) { () async throws(TransportError) in
            try await next(exchange)
        }
        watch.answered()
        reply.body = reply.body.mapReads { [clock] read async throws(TransportError) in
            try await watch.guarding(clock, read)
        }
        return reply
    }
}
