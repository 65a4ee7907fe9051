public import HTTPTypes

/// The course of one call: its attempts, the duration of their phases, and its outcome.
///
/// It contains no query, header field or byte of a body.
public struct HTTPCallSummary: Sendable, Hashable {
    /// The result of a call.
    public enum Outcome: Sendable, Hashable {
        /// The call has not ended.
        case pending
        /// The call ended with a response of this status.
        case answered(status: Int)
        /// The call ended with this error.
        case failed(TransportError.Code)
    }

    /// The identifier of the call.
    public let call: HTTPCallID
    /// The requested method.
    public let method: HTTPRequest.Method
    /// The target without user information, query and fragment.
    public let url: String
    /// The requested host and port.
    public let authority: String
    /// The result of the call.
    public private(set) var outcome = Outcome.pending
    /// The time from the start of the call to its last event so far.
    public private(set) var duration = Duration.zero
    /// The requests passed to the transport, in order: first attempts, retries, redirects and hedges.
    public private(set) var attempts: [Attempt] = []
    /// The number of retries, including replacements of stale connections.
    public private(set) var retryCount = 0
    /// The total of the planned pauses before retries.
    public private(set) var retryDelay = Duration.zero
    /// The number of redirects followed.
    public private(set) var redirectCount = 0
    /// The time that the call waited under the client's own limits.
    public private(set) var queueTime = Duration.zero
    /// Whether a second request was sent alongside a slow one.
    public private(set) var isHedged = false
    /// The freshness of the cached response that answered the call; nil if no cache did.
    public private(set) var cacheFreshness: String?
    /// The call whose exchange this call shared, if it did.
    public private(set) var sharedCall: HTTPCallID?
    /// The reason why the call was not retried despite an outcome that permits it.
    public private(set) var retryRefusal: RetryRefusal?
    private var queuedSince: Duration?

    /// Begins a summary with the first event of a call; nil for any other event.
    public init?(_ event: HTTPEvent) {
        guard case .started(let head) = event.kind else { return nil }
        call = event.call
        method = head.method
        url = head.redactedURL
        authority = String((head.authority ?? "").split(separator: "@").last ?? "")
    }

    /// Creates the summary of a call from its events; nil without the first one.
    public init?(_ events: some Sequence<HTTPEvent>) {
        var iterator = events.makeIterator()
        guard let first = iterator.next() else { return nil }
        self.init(first)
        while let event = iterator.next() { add(event) }
    }

    /// The last attempt's request that led to the outcome, or the request that was sent last if none did.
    ///
    /// A hedged attempt consists of several requests, of which the last one may have been canceled.
    public var lastAttempt: Attempt? {
        let last = attempts.last
        return attempts.last { $0.number == last?.number && $0.led(to: outcome) } ?? last
    }

    /// The size of all request bodies in bytes, as far as transports report it.
    public var requestBytes: Int64 { attempts.reduce(0) { $0 + ($1.requestBytes ?? 0) } }

    /// The size of all response bodies, in bytes.
    public var responseBytes: Int64 { attempts.reduce(0) { $0 + ($1.responseBytes ?? 0) } }

    /// The time from the start of the call to the response head of ``lastAttempt``.
    public var timeToFirstByte: Duration? { lastAttempt?.headAt }

    /// Adds the next event; events of other calls are ignored.
    public mutating func add(_ event: HTTPEvent) {
        guard event.call == call else { return }
        switch event.kind {
        case .sending(let head):
            attempts.append(Attempt(event, head))
        case .retrying(let pause, _):
            retryCount += 1
            retryDelay += pause
        case .notRetried(let reason): retryRefusal = reason
        case .redirected: redirectCount += 1
        case .hedged: isHedged = true
        case .cached(let freshness): cacheFreshness = freshness
        case .joined(let other): sharedCall = other
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
    /// One request of a call; all times are relative to the start of the call.
    public struct Attempt: Sendable, Hashable {
        /// The number of the attempt, counted from 1 for each address of the call; hedges have the number of their
        /// attempt.
        public let number: Int
        /// The method of the request.
        public let method: HTTPRequest.Method
        /// The target without user information, query and fragment.
        public let url: String
        /// The time when the request was passed to the transport.
        public let startedAt: Duration
        /// The time when the request had a connection, if the transport reports it.
        public private(set) var connectedAt: Duration?
        /// The time when the last byte of the request was handed to the network, if the transport reports it.
        public private(set) var sentAt: Duration?
        /// The time when the response head arrived.
        public private(set) var headAt: Duration?
        /// The time when the request ended: with its body, with a failure, or because the rest was dropped.
        public private(set) var endedAt: Duration?
        /// The status of the response.
        public private(set) var status: Int?
        /// The code of the failure.
        public private(set) var failure: TransportError.Code?
        /// The number of bytes of the request body sent, if the transport reports it.
        public private(set) var requestBytes: Int64?
        /// The number of bytes of the response body read.
        public private(set) var responseBytes: Int64?
        /// The connection, if the transport reports it.
        public private(set) var connection: ConnectionInfo?
        /// The phases that the transport reported.
        public private(set) var phases: [PhaseStart] = []

        /// The start of a phase.
        public struct PhaseStart: Sendable, Hashable {
            /// The phase.
            public let phase: TransportError.Phase
            /// The time when the phase began.
            public let startedAt: Duration
        }

        fileprivate let request: Int?

        fileprivate init(_ event: HTTPEvent, _ head: HTTPRequest) {
            number = event.attempt
            request = event.request
            startedAt = event.elapsed
            method = head.method
            url = head.redactedURL
        }

        /// The time from passing the request to the transport to the response head.
        public var timeToFirstByte: Duration? { headAt.map { $0 - startedAt } }

        /// The time from the response head to the end of the body.
        public var bodyDuration: Duration? {
            guard let headAt, let endedAt else { return nil }
            return endedAt - headAt
        }

        fileprivate func led(to outcome: Outcome) -> Bool {
            switch outcome {
            case .pending: false
            case .answered(let status): self.status == status
            case .failed(let code): failure == code
            }
        }

        fileprivate mutating func add(_ event: HTTPEvent) {
            switch event.kind {
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
    /// The course of the call on one line, safe for logs.
    public var description: String {
        let result =
            switch outcome {
            case .pending: "pending"
            case .answered(let status): "\(status)"
            case .failed(let code): code.name
            }
        var text = "\(method.rawValue) \(url) \(result) in \(duration)"
        if responseBytes > 0 { text += ", \(responseBytes) bytes" }
        if let cacheFreshness { text += ", cached (\(cacheFreshness))" }
        if let sharedCall { text += ", shared with \(sharedCall)" }
        if attempts.count > 1 { text += ", \(attempts.count) requests" }
        if retryCount > 0 { text += ", \(retryCount) retries" }
        if redirectCount > 0 { text += ", \(redirectCount) redirects" }
        if let version = lastAttempt?.connection?.version { text += ", \(version)" }
        return text
    }
}
