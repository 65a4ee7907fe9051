public import HTTPTypes
import KeelCore

/// A layer that sends a second request alongside an unusually slow one, and takes the first good answer.
///
/// A request without a response head after the time in which 98 % of the origin's last 256 requests had one is sent
/// again. An error, status 429, a status from 500, and 409 for a request with an `Idempotency-Key` are taken only if
/// the other answer is bad as well. After a good answer, the other request is canceled. At most 3 % of all requests are
/// sent twice (J. Dean and L. A. Barroso, "The Tail at Scale", Communications of the ACM 56, 2013).
///
/// Only idempotent requests with replayable bodies are hedged, by default those of `GET` and `HEAD`. Place the layer in
/// ``NetworkClient/Configuration/attemptMiddleware``.
public struct HedgingMiddleware: HTTPMiddleware {
    /// The conditions under which a second request is sent.
    public struct Settings: Sendable, Hashable {
        /// The fraction of the recent requests that took no longer than the wait; at least 0.97.
        public var percentile = 0.98
        /// The number of an origin's requests to measure before one is sent twice.
        public var minimumSamples = 100
        /// The fraction of the requests that may be sent twice.
        public var budget = 0.03
        /// The methods that may be sent twice; nil means all idempotent ones.
        public var methods: Set<HTTPRequest.Method>? = [.get, .head]

        /// Creates the default settings.
        public init() {}
    }

    private struct Origin: Sendable {
        var latencies = LatencyWindow()
        var credit = 0.0
    }

    private let settings: Settings
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let origins = OriginTable(Origin())

    /// Creates the layer; `clock` measures the requests.
    public init(
        _ settings: Settings = Settings(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.settings = settings
        self.clock = clock
        timeline = Timeline(clock)
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard call.isIdempotent, call.isReplayable,
            settings.methods?.contains(call.head.method) ?? true
        else { return try await next(call) }
        let origin = call.origin
        let start = timeline.now
        let wait = origins.with(origin) { origin in
            // Limited to ten, so that a quiet hour does not pay for a storm.
            origin.credit = min(origin.credit + settings.budget, 10)
            return origin.latencies.time(of: max(settings.percentile, 0.97), settings)
        }
        let reply: HTTPReply
        if let wait {
            reply = try await race(call, next, origin, wait).get()
        } else {
            reply = try await next(call)
        }
        let latency = timeline.now - start
        origins.with(origin) { $0.latencies.add(latency) }
        return reply
    }

    private typealias Answer = Result<HTTPReply, TransportError>

    private enum Arrival: Sendable {
        case answer(Answer)
        /// A bad answer, to use only if the other one is no better.
        case failed(Answer)
        case slow
        case stopped
    }

    private func race(
        _ call: HTTPCall,
        _ next: HTTPNext,
        _ origin: HTTPOrigin,
        _ wait: Duration
    ) async -> Answer {
        await withTaskGroup(of: Arrival.self, returning: Answer.self) { group in
            group.addTask { .answer(await Self.answer(call, next)) }
            group.addTask { [clock] in
                (try? await clock.sleep(for: wait)) == nil ? .stopped : .slow
            }
            var underWay = 1
            var isRepeated = false
            var failure: Answer?
            while let arrival = await group.next() {
                switch arrival {
                case .stopped:
                    continue
                case .failed(let answer):
                    failure = answer
                case .slow:
                    guard pay(for: origin) else { continue }
                    call.record(.hedged)
                    underWay += 1
                    isRepeated = true
                    group.addTask { .answer(await Self.answer(call, next)) }
                case .answer(let answer):
                    underWay -= 1
                    let isGood = Self.isGood(answer, to: call)
                    guard underWay == 0 || isGood else {
                        // The other request may be waiting for this one's place under a limit.
                        group.addTask { .failed(await Self.detached(answer)) }
                        continue
                    }
                    group.cancelAll()
                    let best = isGood ? answer : failure ?? answer
                    return isRepeated ? Self.repeated(best, call) : best
                }
            }
            return failure ?? .failure(TransportError(.cancelled))
        }
    }

    private static func answer(_ call: HTTPCall, _ next: HTTPNext) async -> Answer {
        do throws(TransportError) {
            return .success(try await next(call))
        } catch {
            return .failure(error)
        }
    }

    private static func detached(_ answer: Answer) async -> Answer {
        do throws(TransportError) {
            return .success(try await answer.get().detached())
        } catch {
            return .failure(error)
        }
    }

    /// Notes that the server may have known the request when it gave an answer.
    private static func repeated(_ answer: Answer, _ call: HTTPCall) -> Answer {
        answer.map { reply in
            var reply = reply
            reply.notes.attempt = call.attempt + 1
            return reply
        }
    }

    /// Whether an answer is preferable to waiting for the other one.
    private static func isGood(_ answer: Answer, to call: HTTPCall) -> Bool {
        guard case .success(let reply) = answer else { return false }
        switch reply.head.status.code {
        // The server may still be processing the other request, which has the same key.
        case 409: return !call.hasIdempotencyKey
        case 429: return false
        case let code: return code < 500
        }
    }

    private func pay(for origin: HTTPOrigin) -> Bool {
        origins.with(origin) { origin in
            guard origin.credit >= 1 else { return false }
            origin.credit -= 1
            return true
        }
    }
}

private struct LatencyWindow: Sendable {
    private static let capacity = 256

    private var samples: [Duration] = []
    private var position = 0
    private var known: Duration?
    private var age = 0

    mutating func add(_ latency: Duration) {
        if samples.count < Self.capacity {
            samples.append(latency)
        } else {
            samples[position] = latency
            position = (position + 1) % Self.capacity
        }
        age += 1
    }

    /// Returns the latency at a percentile of the samples, which are sorted after every 16th.
    mutating func time(of part: Double, _ settings: HedgingMiddleware.Settings) -> Duration? {
        guard samples.count >= max(1, settings.minimumSamples) else { return nil }
        if known == nil || age >= 16 {
            let index = Int((Double(samples.count) * part).rounded(.up)) - 1
            known = samples.sorted()[min(max(index, 0), samples.count - 1)]
            age = 0
        }
        return known
    }
}
