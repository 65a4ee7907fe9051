import HTTPTypes
import KeelCore

/// A layer that stops calling an origin whose calls fail, and tries again after a while.
///
/// While the circuit of an origin is open, its calls fail immediately with ``TransportError/Code/circuitOpen``, caused
/// by the last actual failure, and are not retried. After a pause, one call is admitted as a probe, and another after
/// each further pause without an outcome. If a probe succeeds, the circuit closes; if it fails, the next pause is twice
/// as long.
///
/// The statuses 500, 502, 503 and 504 and transient transport errors count as failures. Canceled calls and those that
/// fail with `throttled`, `poolTimeout`, `deadlineExceeded` or a permanent error do not count at all. A response counts
/// when its head arrives, whatever happens to its body.
///
/// Place the layer in ``NetworkClient/Configuration/attemptMiddleware``.
public struct CircuitBreakerMiddleware: HTTPMiddleware {
    /// The conditions under which a circuit opens, and the times for which it stays open.
    public struct Settings: Sendable, Hashable {
        /// The fraction of the recent calls that must fail for the circuit to open.
        public var failureRatio = 0.5
        /// The minimum number of recent calls for the circuit to open.
        public var minimumCalls = 10
        /// The length of a window; calls of the current and the previous window are recent.
        public var window = Duration.seconds(10)
        /// The time for which a circuit is open at first.
        public var openDuration = Duration.seconds(5)
        /// The longest time that a circuit is open.
        public var maximumOpenDuration = Duration.seconds(60)

        /// Creates the default settings.
        public init() {}
    }

    private let settings: Settings
    private let timeline: Timeline
    private let circuits: OriginTable<Circuit>

    /// Creates the layer; `clock` measures windows and pauses.
    public init(
        _ settings: Settings = Settings(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.settings = settings
        timeline = Timeline(clock)
        circuits = OriginTable(Circuit())
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let origin = call.origin
        let now = timeline.now
        var isProbe = false
        switch circuits.with(origin, { $0.admit(at: now, settings) }) {
        case .closed:
            break
        case .probe:
            isProbe = true
            call.record(.circuit("half-open"))
        case .refused(let cause):
            throw TransportError(.circuitOpen, cause: cause)
        }
        do throws(TransportError) {
            let reply = try await next(call)
            let isFailure = [500, 502, 503, 504].contains(reply.head.status.code)
            let cause = isFailure ? refusal(reply, call) : nil
            report(cause.map { .failed($0) } ?? .succeeded, isProbe, origin, call)
            return reply
        } catch {
            report(Self.outcome(error), isProbe, origin, call)
            throw error
        }
    }

    private func report(
        _ outcome: Circuit.Outcome,
        _ isProbe: Bool,
        _ origin: HTTPOrigin,
        _ call: HTTPCall
    ) {
        let now = timeline.now
        let change = circuits.with(origin) { $0.report(outcome, isProbe, at: now, settings) }
        if let change { call.record(.circuit(change)) }
    }

    private func refusal(_ reply: HTTPReply, _ call: HTTPCall) -> any Error {
        NetworkError(
            errorResponse: NetworkResponse(head: reply.head),
            url: call.redactedURL,
            declared: [],
            coding: JSONCoding.standard
        ) ?? NetworkError(.unavailable)
    }

    private static func outcome(_ error: TransportError) -> Circuit.Outcome {
        switch error.code {
        case .cancelled, .throttled, .deadlineExceeded, .poolTimeout: .unknown
        default: error.isTransient ? .failed(error) : .unknown
        }
    }
}

/// The state of one origin's circuit: closed, open until a time, or half open with a probe.
struct Circuit: Sendable {
    enum Admission: Sendable {
        case closed
        /// The call that tests whether the origin has recovered.
        case probe
        case refused((any Error)?)
    }

    enum Outcome: Sendable {
        case succeeded
        case failed(any Error)
        /// The call says nothing about the origin.
        case unknown
    }

    private enum Phase: Sendable {
        case closed
        case open(until: Duration, pause: Duration)
        /// A probe is in progress; from this time on, another call is a probe.
        case halfOpen(until: Duration, pause: Duration)
    }

    private var phase = Phase.closed
    private var recent = RecentCounts()
    private var lastFailure: (any Error)?

    mutating func admit(
        at now: Duration,
        _ settings: CircuitBreakerMiddleware.Settings
    ) -> Admission {
        switch phase {
        case .closed:
            return .closed
        case .open(let end, let pause), .halfOpen(let end, let pause):
            guard now >= end else { return .refused(lastFailure) }
            phase = .halfOpen(until: now + pause, pause: pause)
            return .probe
        }
    }

    /// Records the outcome of a call, and returns the name of the new state if it has changed.
    mutating func report(
        _ outcome: Outcome,
        _ isProbe: Bool,
        at now: Duration,
        _ settings: CircuitBreakerMiddleware.Settings
    ) -> String? {
        switch phase {
        case .closed:
            return count(outcome, at: now, settings)
        case .open:
            // Another probe has failed since this one began; other calls began before the circuit opened.
            guard isProbe, case .succeeded = outcome else { return nil }
            return close()
        case .halfOpen(_, let pause):
            guard isProbe else { return nil }
            switch outcome {
            case .succeeded:
                return close()
            case .failed(let error):
                lastFailure = error
                let longer = min(pause * 2, settings.maximumOpenDuration)
                phase = .open(until: now + longer, pause: longer)
                return "open"
            case .unknown:
                // The next call becomes the probe.
                phase = .open(until: now, pause: pause)
                return nil
            }
        }
    }

    private mutating func close() -> String {
        phase = .closed
        recent = RecentCounts()
        lastFailure = nil
        return "closed"
    }

    private mutating func count(
        _ outcome: Outcome,
        at now: Duration,
        _ settings: CircuitBreakerMiddleware.Settings
    ) -> String? {
        recent.move(to: now, window: settings.window)
        switch outcome {
        case .unknown:
            return nil
        case .succeeded:
            recent.add()
            return nil
        case .failed(let error):
            lastFailure = error
            recent.add()
            recent.mark()
        }
        guard recent.all >= settings.minimumCalls,
            Double(recent.marked) >= settings.failureRatio * Double(recent.all)
        else { return nil }
        phase = .open(until: now + settings.openDuration, pause: settings.openDuration)
        return "open"
    }
}

/// Counts of recent items, and of those that are marked, in the current and the previous window.
struct RecentCounts: Sendable, Hashable {
    private var window: Int64 = 0
    private var last = Counts()
    private var current = Counts()

    private struct Counts: Sendable, Hashable {
        var all = 0
        var marked = 0
    }

    var all: Int { last.all + current.all }

    var marked: Int { last.marked + current.marked }

    /// Drops the items before the previous window.
    mutating func move(to time: Duration, window length: Duration) {
        let now = Int64(time / max(length, .milliseconds(1)))
        // Concurrent callers may come with their times in another order.
        guard now > window else { return }
        last = now == window + 1 ? current : Counts()
        current = Counts()
        window = now
    }

    mutating func add() { current.all += 1 }

    mutating func mark() { current.marked += 1 }
}
