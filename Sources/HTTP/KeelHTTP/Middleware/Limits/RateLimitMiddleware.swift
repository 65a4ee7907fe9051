import KeelCore

/// A layer that limits the rate of requests per origin.
///
/// Further requests wait for their turn in the order of their arrival. A request whose wait would exceed `maximumWait`
/// or the time left for the call fails immediately with ``TransportError/Code/throttled``. Later requests use the turns
/// of canceled ones, unless others wait behind them already.
///
/// Place it in ``NetworkClient/Configuration/attemptMiddleware``, so that retries count.
public struct RateLimitMiddleware: HTTPMiddleware {
    private let interval: Duration
    private let burst: Int
    private let maximumWait: Duration
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let turns = OriginTable(Turns())

    private struct Turns: Sendable {
        /// When the next of the evenly spaced requests is due.
        var next = Duration.zero
        /// The ends of turns left by canceled requests, with others waiting behind them.
        private var unused: Set<Duration> = []

        /// Takes back a turn, unless another request waits behind it.
        mutating func takeBack(endingAt end: Duration, _ interval: Duration, at now: Duration) {
            unused = unused.filter { $0 > now }
            unused.insert(end)
            while unused.remove(next) != nil { next -= interval }
        }
    }

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - count: The average number of requests per origin in a period; at least 1. The first period after an idle
    ///     time can have up to `burst` - 1 more.
    ///   - period: The period.
    ///   - burst: The number of requests that can be sent at once after an idle time; nil for `count`.
    ///   - maximumWait: The longest time that a request waits for its turn; with zero, no request waits.
    ///   - clock: The clock that measures waits.
    public init(
        _ count: Int,
        per period: Duration,
        burst: Int? = nil,
        maximumWait: Duration = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        interval = period / max(1, count)
        self.burst = max(1, burst ?? count)
        self.maximumWait = maximumWait
        self.clock = clock
        timeline = Timeline(clock)
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let (wait, end) = reserve(for: call) else { throw TransportError(.throttled) }
        if wait > .zero {
            call.record(.queued(true))
            guard (try? await clock.sleep(for: wait)) != nil else {
                let now = timeline.now
                turns.with(call.origin) { $0.takeBack(endingAt: end, interval, at: now) }
                throw TransportError(.cancelled, phase: .pool)
            }
            call.record(.queued(false))
        }
        return try await next(call)
    }

    /// Reserves the next turn, and returns the wait for it and its end; nil if the wait is too long.
    private func reserve(for call: HTTPCall) -> (wait: Duration, end: Duration)? {
        let now = timeline.now
        let longest = min(maximumWait, call.deadline?.remaining ?? maximumWait)
        return turns.with(call.origin) { turns in
            let due = max(turns.next, now)
            let wait = max(.zero, due - interval * (burst - 1) - now)
            guard wait <= longest else { return nil }
            turns.next = due + interval
            return (wait, turns.next)
        }
    }
}
