import HTTPTypes
import KeelCore

/// A stream of server-sent events that reconnects on its own (WHATWG HTML, section 9.2).
///
/// ```swift
/// for try await event in client.eventStream(WatchOrders()) { show(event) }
/// ```
///
/// - The stream connects when the first element is requested. It works in the task that requests elements and ends with
///   that task; a slow reader slows the server down.
/// - After a lost connection, a stream closed by the server, or a transient status, it reconnects with `Last-Event-ID`,
///   after a growing pause, if the request may be repeated: see ``EventStreamPolicy/resendsUnsafeRequests``.
/// - Status 204 ends the stream. Any other permanent status than 200, and any other content type, ends it with an
///   error, as does a new connection after another user has signed in.
/// - The client's total time limit covers each connection up to its response head.
///
/// A stream can be read several times; each reader has its own connection.
public struct EventStream: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = NetworkError

    let client: NetworkClient
    let plan: RequestPlan
    let policy: EventStreamPolicy

    /// The events together with the changes of the connection.
    public var updates: Updates { Updates(stream: self) }

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator())
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var updates: Updates.Iterator

        fileprivate init(updates: Updates.Iterator) {
            self.updates = updates
        }

        /// The identifier last seen; save it to resume from there later.
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

/// An event on a stream, or a change of its connection.
public enum EventStreamUpdate: Sendable {
    /// A connection is about to be opened; attempts are counted from the last healthy connection, which is number 1.
    case connecting(attempt: Int)
    /// The server has accepted the connection; events follow.
    case open
    /// An event has arrived.
    case event(ServerSentEvent)
    /// The connection has ended, with an error unless the server closed it; the next one is opened after this pause.
    case waiting(Duration, NetworkError?)
}

extension EventStream {
    /// Opens a connection and returns the response body; nil after status 204.
    ///
    /// With `isAfterStall`, the previous connection is not reused.
    ///
    /// - Throws: The error of the exchange, or an error if the response is not an event stream.
    func connect(
        _ lastEventID: String,
        isAfterStall: Bool,
        _ pin: SessionPin
    ) async throws(NetworkError) -> HTTPByteStream? {
        var plan = plan
        if plan.headers[.accept] == nil { plan.headers[.accept] = "text/event-stream" }
        if plan.headers[.cacheControl] == nil { plan.headers[.cacheControl] = "no-store" }
        if !lastEventID.isEmpty { plan.headers[.lastEventID] = lastEventID }
        // The stream itself reconnects, with its own pauses.
        plan.options.retry = .never
        plan.options.pin = pin
        if isAfterStall { plan.options.prefersNewConnection = true }
        let reply = try await client.opened(plan, .head, idle: policy.idleTimeout).reply
        if reply.head.status == .noContent { return nil }
        guard reply.head.status == .ok, reply.isEventStream else {
            throw NetworkError.noEventStream(reply.head)
        }
        return reply.body
    }

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
        let codings = plan.codings(of: client)
        return (try? body.make(codings))?.isReplayable ?? false
    }
}

extension NetworkClient {
    /// Reads an endpoint's server-sent events and reconnects whenever the stream breaks off.
    ///
    /// For a single connection, use ``events(_:limits:)``.
    public func eventStream(
        _ endpoint: some ServiceEndpoint,
        policy: EventStreamPolicy = EventStreamPolicy()
    ) -> EventStream {
        EventStream(client: self, plan: RequestPlan(endpoint), policy: policy)
    }
}

extension NetworkError {
    static func noEventStream(_ head: HTTPResponse) -> NetworkError {
        NetworkError(
            .invalidResponse,
            "The response is not an event stream.",
            response: NetworkResponse(head: head)
        )
    }

    var retryAfter: Duration? { response?.head.retryAfter }
}

extension HTTPReply {
    var isEventStream: Bool {
        let type = (head.headerFields[.contentType] ?? "").prefix { $0 != ";" && $0 != " " }
        return type.lowercased() == "text/event-stream"
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = known("Last-Event-ID")
}
