internal import Synchronization

/// Holds the status and publishes changes.
final class StatusBoard: Sendable {
    private struct State {
        var status = AnalyticsStatus()
        var followers: [Int: AsyncStream<AnalyticsStatus>.Continuation] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    deinit {
        for follower in state.withLock({ $0.followers.values }) { follower.finish() }
    }

    var status: AnalyticsStatus { state.withLock { $0.status } }

    /// Changes the status, and publishes it if it differs.
    func change(_ change: (inout AnalyticsStatus) -> Void) {
        state.withLock { state in
            let before = state.followers.isEmpty ? nil : state.status
            change(&state.status)
            guard let before, before != state.status else { return }
            for follower in state.followers.values { follower.yield(state.status) }
        }
    }

    /// The current status and each change; a slow reader receives only the latest.
    func follow() -> AsyncStream<AnalyticsStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AnalyticsStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { state in
            state.next += 1
            state.followers[state.next] = continuation
            continuation.yield(state.status)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.followers.removeValue(forKey: number) }
        }
        return stream
    }
}
