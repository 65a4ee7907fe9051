import HTTPTypes
import KeelCore

/// A stream of server-sent events that connects again by itself (WHATWG HTML, section 9.2).
///
/// ```swift
/// for try await event in client.eventStream(WatchOrders()) { show(event) }
/// ```
///
/// - Nothing happens before the first element is asked for, and everything happens in the task
///   that asks: the stream ends with it, and a slow reader slows the server down.
/// - After a lost connection, a stream that the server closed, or a status that may pass, it
///   connects again with `Last-Event-ID`, after a pause that grows with each failure.
/// - The server ends it with status 204. Any other status than 200, and another content type, end
///   it with an error.
/// - The total time limit of the client covers each connection up to its response head only.
///
/// Use ``updates`` to see the connections too. A stream can be read several times; each reader
/// has a connection of its own.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = NetworkError

    let client: NetworkClient
    let plan: RequestPlan
    let policy: EventStreamPolicy

    /// The events together with what happens to the connection.
    public var updates: Updates { Updates(stream: self) }

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator())
    }

    /// Reads the stream event by event.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var updates: Updates.Iterator

        fileprivate init(updates: Updates.Iterator) {
            self.updates = updates
        }

        /// The identifier that was last seen; keep it to go on from there later.
        public var lastEventID: String { updates.lastEventID }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkError) -> ServerSentEvent? {
            while let update = try await updates.next(isolation: actor) {
                if case .event(let event) = update { return event }
            }
            return nil
        }
    }
}

/// Something that happens on a stream of events.
public enum EventStreamUpdate: Sendable {
    /// A connection is about to be opened; attempts are counted from 1 since the last healthy one.
    case connecting(attempt: Int)
    /// The server has accepted; events follow.
    case open
    /// An event has arrived.
    case event(ServerSentEvent)
    /// The connection has ended, with an error unless the server closed it; the next one is opened
    /// after this pause.
    case waiting(Duration, NetworkError?)
}

extension EventStream {
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - lastEventID: The identifier to go on from.
    ///   - isAfterSilence: Whether the connection before may be dead, and is not to be used again.
    /// - Returns: The body of the answer; nil if the server wants no more connections.
    /// - Throws: What opening fails with, or that the answer is no stream of events.
    func connect(
        _ lastEventID: String,
        isAfterSilence: Bool
    ) async throws(NetworkError) -> HTTPByteStream? {
        var plan = plan
        if plan.headers[.accept] == nil { plan.headers[.accept] = "text/event-stream" }
        if plan.headers[.cacheControl] == nil { plan.headers[.cacheControl] = "no-store" }
        if !lastEventID.isEmpty { plan.headers[.lastEventID] = lastEventID }
        // Connecting again is this stream's own business, with its own pauses.
        plan.options.retry = .never
        if isAfterSilence { plan.options.prefersNewConnection = true }
        let reply = try await client.opened(plan, .head, idle: policy.idleTimeout).reply
        if reply.head.status == .noContent { return nil }
        guard reply.head.status == .ok, reply.isEventStream else {
            throw NetworkError.noEventStream(reply.head)
        }
        return reply.body
    }

    /// Whether the request may be sent a second time.
    var mayConnectAgain: Bool {
        if policy.resendsUnsafeRequests { return isReplayable }
        let head = HTTPRequest(
            method: plan.method,
            scheme: nil,
            authority: nil,
            path: nil,
            headerFields: plan.headers
        )
        return HTTPCall(head, options: plan.options).isIdempotent && isReplayable
    }

    private var isReplayable: Bool {
        guard let body = plan.body else { return true }
        let codings = plan.codings(of: client.configuration)
        return (try? body.make(codings))?.isReplayable ?? false
    }

    static func stopwatch<C: Clock<Duration>>(
        _ clock: C
    ) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension NetworkClient {
    /// Reads an endpoint as server-sent events and connects again whenever the stream is cut off.
    ///
    /// For a single connection, use ``events(_:limits:)``.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint; `GET` unless it says otherwise.
    ///   - policy: When and how often to connect again.
    /// - Returns: The stream; its elements are fetched while it is read.
    public func eventStream(
        _ endpoint: some ServiceEndpoint,
        policy: EventStreamPolicy = EventStreamPolicy()
    ) -> EventStream {
        EventStream(client: self, plan: RequestPlan(endpoint), policy: policy)
    }
}

extension NetworkError {
    /// The error of an answer that is no stream of events.
    static func noEventStream(_ head: HTTPResponse) -> NetworkError {
        NetworkError(
            .invalidResponse,
            "The response is not a stream of events.",
            response: NetworkResponse(head: head)
        )
    }

    /// The pause that the response asks for (RFC 9110 section 10.2.3).
    var retryAfter: Duration? { response?.head.retryAfter }
}

extension HTTPReply {
    /// Whether the response says that it is a stream of events.
    var isEventStream: Bool {
        let type = (head.headerFields[.contentType] ?? "").prefix { $0 != ";" && $0 != " " }
        return type.lowercased() == "text/event-stream"
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID: Self = {
        guard let name = Self("Last-Event-ID") else { preconditionFailure("It is a token.") }
        return name
    }()
}
