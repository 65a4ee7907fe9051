public import HTTPTypes

/// The course of one call: its attempts, how long each of their phases took, its outcome.
///
/// It is folded from the call's events. It holds no query, no header field and no byte of a body.
public struct HTTPCallSummary: Sendable, Hashable {
    /// How a call ended.
    public enum Outcome: Sendable, Hashable {
        /// It has not ended.
        case pending
        /// It ended with a response of this status, whatever that means to the app.
        case answered(status: Int)
        /// It ended with this error.
        case failed(TransportError.Code)
    }

    /// The call.
    public let call: HTTPCallID
    /// The method that was asked for.
    public let method: HTTPRequest.Method
    /// The target without user information, query and fragment.
    public let url: String
    /// The host and port that were asked for.
    public let authority: String
    /// How the call ended.
    public private(set) var outcome = Outcome.pending
    /// From the start of the call to its last event so far: the end of its body, or its outcome.
    public private(set) var duration = Duration.zero
    /// Each request that was sent, or meant to be: first attempts, repetitions, redirects, hedges.
    public private(set) var attempts: [Attempt] = []
    /// How many times the call was repeated.
    public private(set) var retryCount = 0
    /// How long the pauses before repetitions were meant to be, in all.
    public private(set) var pauses = Duration.zero
    /// How many redirects were followed.
    public private(set) var redirectCount = 0
    /// How long the call waited for its turn in this process.
    public private(set) var queueTime = Duration.zero
    /// Whether a second request was sent beside a slow one.
    public private(set) var isHedged = false
    /// How fresh the cached response was that answered the call; nil where none did.
    public private(set) var cached: String?
    /// The call whose exchange this one shared.
    public private(set) var joined: HTTPCallID?
    /// Why the call was not repeated although its outcome may pass.
    public private(set) var refusal: RetryRefusal?
    private var queuedSince: Duration?

    /// Begins a summary with the first event of a call; nil if it is not the first.
    public init?(_ event: HTTPEvent) {
        guard case .started(let head) = event.moment else { return nil }
        call = event.call
        method = head.method
        url = head.redactedURL
        authority = String((head.authority ?? "").split(separator: "@").last ?? "")
    }

    /// Makes the summary of a call from its events; nil without the first one.
    public init?(_ events: some Sequence<HTTPEvent>) {
        var iterator = events.makeIterator()
        guard let first = iterator.next() else { return nil }
        self.init(first)
        while let event = iterator.next() { add(event) }
    }

    /// The attempt that the outcome came from, or the one under way.
    public var lastAttempt: Attempt? { attempts.last }

    /// The bytes of all request bodies, as far as transports told.
    public var requestBytes: Int64 { attempts.reduce(0) { $0 + ($1.requestBytes ?? 0) } }

    /// The bytes of all response bodies.
    public var responseBytes: Int64 { attempts.reduce(0) { $0 + ($1.responseBytes ?? 0) } }

    /// From the start of the call to the head of the response that answered it.
    public var timeToFirstByte: Duration? { attempts.last?.headAt }

    /// Takes the next event of the call in; events of other calls change nothing.
    public mutating func add(_ event: HTTPEvent) {
        guard event.call == call else { return }
        switch event.moment {
        case .sending(let head):
            attempts.append(Attempt(event, head))
        case .retrying(let pause, _):
            retryCount += 1
            pauses += pause
        case .notRetried(let reason): refusal = reason
        case .redirected: redirectCount += 1
        case .hedged: isHedged = true
        case .cached(let freshness): cached = freshness
        case .joined(let other): joined = other
        case .queued(let isWaiting):
            if isWaiting {
                queuedSince = event.elapsed
            } else if let since = queuedSince.take() {
                queueTime += event.elapsed - since
            }
        case .succeeded(let status): outcome = .answered(status: status)
        case .failed(let error): outcome = .failed(error.code)
        default:
            let index = attempts.lastIndex {
                $0.number == event.attempt && $0.request == event.request
            }
            guard let index else { return }
            attempts[index].add(event)
        }
        duration = max(duration, event.elapsed)
    }
}

extension HTTPCallSummary {
    /// One request of a call; all times count from the start of the call.
    public struct Attempt: Sendable, Hashable {
        /// Which attempt it is, counted from 1; redirects and hedges keep the number.
        public let number: Int
        /// The method that was sent.
        public let method: HTTPRequest.Method
        /// The target without user information, query and fragment.
        public let url: String
        /// When it was handed to the transport.
        public let startedAt: Duration
        /// When it had a connection, where the transport tells.
        public private(set) var connectedAt: Duration?
        /// When its last byte was handed to the network, where the transport tells.
        public private(set) var sentAt: Duration?
        /// When the head of its response arrived.
        public private(set) var headAt: Duration?
        /// When it ended: with its body, with a failure, or because the rest was not wanted.
        public private(set) var endedAt: Duration?
        /// The status of its response.
        public private(set) var status: Int?
        /// The code of the failure.
        public private(set) var failure: TransportError.Code?
        /// The bytes of its body that were sent, where the transport tells.
        public private(set) var requestBytes: Int64?
        /// The bytes of its response body that were read.
        public private(set) var responseBytes: Int64?
        /// Its connection, where the transport tells.
        public private(set) var connection: ConnectionInfo?
        /// The phases that the transport told of, and when each began.
        public private(set) var phases: [PhaseStart] = []

        /// When a phase began.
        public struct PhaseStart: Sendable, Hashable {
            /// The phase.
            public let phase: TransportError.Phase
            /// When it began.
            public let startedAt: Duration
        }

        /// Tells it from the others of the call.
        fileprivate let request: Int?

        fileprivate init(_ event: HTTPEvent, _ head: HTTPRequest) {
            number = event.attempt
            request = event.request
            startedAt = event.elapsed
            method = head.method
            url = head.redactedURL
        }

        /// From handing it to the transport to the head of the response.
        public var waiting: Duration? { headAt.map { $0 - startedAt } }

        /// From the head of the response to the end of its body.
        public var reading: Duration? {
            guard let headAt, let endedAt else { return nil }
            return endedAt - headAt
        }

        fileprivate mutating func add(_ event: HTTPEvent) {
            switch event.moment {
            case .entered(let phase):
                phases.append(PhaseStart(phase: phase, startedAt: event.elapsed))
            case .connected(let connection):
                self.connection = connection
                connectedAt = event.elapsed
            case .sentBody(let bytes):
                requestBytes = bytes
                sentAt = event.elapsed
            case .sentHead: sentAt = event.elapsed
            case .received(let head, let connection):
                status = head.status.code
                self.connection = connection ?? self.connection
                headAt = event.elapsed
            case .receivedBody(let bytes), .droppedBody(let bytes):
                responseBytes = bytes
                endedAt = event.elapsed
            case .attemptFailed(let error):
                failure = error.code
                responseBytes = error.bytesReceived ?? responseBytes
                endedAt = event.elapsed
            default: break
            }
        }
    }
}

extension HTTPCallSummary: CustomStringConvertible {
    /// One line with the method, the target, the outcome, the time, the bytes and the attempts.
    public var description: String {
        let result =
            switch outcome {
            case .pending: "pending"
            case .answered(let status): "\(status)"
            case .failed(let code): code.name
            }
        var text = "\(method.rawValue) \(url) \(result) in \(duration)"
        if responseBytes > 0 { text += ", \(responseBytes) bytes" }
        if let cached { text += ", cached (\(cached))" }
        if let joined { text += ", shared with \(joined)" }
        if attempts.count > 1 { text += ", \(attempts.count) requests" }
        if retryCount > 0 { text += ", \(retryCount) retries" }
        if redirectCount > 0 { text += ", \(redirectCount) redirects" }
        if let version = lastAttempt?.connection?.version { text += ", \(version)" }
        return text
    }
}
