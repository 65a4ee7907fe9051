import KeelCore

/// Bounds how many requests are sent to one origin in a span of time.
///
/// Requests beyond the rate wait for their turn, in the order in which they came. One whose turn is
/// further away than it may wait, or than the call has time, fails at once with
/// ``TransportError/Code/throttled``.
///
/// Place it in ``NetworkClient/Configuration/attemptMiddleware``, so that repetitions count.
public struct RateLimitMiddleware: HTTPMiddleware {
    private let interval: Duration
    private let burst: Int
    private let maximumWait: Duration
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    /// When the next request of an evenly spaced row is due.
    private let turns = OriginTable(Duration.zero)

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - count: How many requests may be sent to one origin in each span; at least 1.
    ///   - span: The span.
    ///   - burst: How many of them may be sent at once after a quiet time; nil is all of them.
    ///   - maximumWait: How long a request may wait for its turn; zero refuses at once.
    ///   - clock: The clock that is waited on.
    public init(
        _ count: Int,
        per span: Duration,
        burst: Int? = nil,
        maximumWait: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        interval = span / max(1, count)
        self.burst = max(1, burst ?? count)
        self.maximumWait = maximumWait
        self.clock = clock
        timeline = Timeline(clock)
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let wait = reserve(for: call) else { throw TransportError(.throttled) }
        if wait > .zero {
            call.record(.queued(true))
            guard (try? await clock.sleep(for: wait)) != nil else {
                throw TransportError(.cancelled, phase: .pool)
            }
            call.record(.queued(false))
        }
        return try await next(call)
    }

    /// Takes the next turn and returns how far away it is; nil if that is too far.
    private func reserve(for call: HTTPCall) -> Duration? {
        let now = timeline.now
        let longest = min(maximumWait, call.deadline?.remaining ?? maximumWait)
        return turns.with(call.origin) { turn in
            let due = max(turn, now)
            let wait = max(.zero, due - interval * (burst - 1) - now)
            guard wait <= longest else { return nil }
            turn = due + interval
            return wait
        }
    }
}
