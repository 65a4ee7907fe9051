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
    /// The events of a stream together with what happens to its connection.
    public struct Updates: AsyncSequence, Sendable {
        public typealias Element = EventStreamUpdate
        public typealias Failure = NetworkError

        let stream: EventStream

        public func makeAsyncIterator() -> Iterator {
            Iterator(stream)
        }

        /// Reads the stream update by update.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            private enum Stage: Sendable {
                case idle
                case connecting
                case open(HTTPByteStream.Iterator, since: @Sendable () -> Duration)
                case waiting(Duration)
                case ended
            }

            private let stream: EventStream
            private var stage = Stage.idle
            private var parser: ServerSentEventParser
            private var failures = 0
            private var serverDelay: Duration?

            fileprivate init(_ stream: EventStream) {
                self.stream = stream
                parser = ServerSentEventParser(lastEventID: stream.policy.lastEventID)
            }

            /// The identifier that was last seen; keep it to go on from there later.
            public var lastEventID: String { parser.lastEventID }

            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(NetworkError) -> EventStreamUpdate? {
                // Whatever is thrown from here on, the sequence is over.
                let current = stage
                stage = .ended
                switch current {
                case .ended:
                    return nil
                case .idle:
                    stage = .connecting
                    return .connecting(attempt: failures + 1)
                case .waiting(let pause):
                    try await sleep(pause)
                    stage = .connecting
                    return .connecting(attempt: failures + 1)
                case .connecting:
                    return try await connect()
                case .open(let chunks, let age):
                    return try await read(chunks, age, actor)
                }
            }

            private mutating func connect() async throws(NetworkError) -> EventStreamUpdate? {
                do throws(NetworkError) {
                    guard let body = try await stream.connect(lastEventID) else { return nil }
                    parser = ServerSentEventParser(
                        limits: stream.policy.limits,
                        lastEventID: lastEventID
                    )
                    let age = EventStream.stopwatch(stream.client.configuration.clock)
                    stage = .open(body.makeAsyncIterator(), since: age)
                    return .open
                } catch {
                    return try lost(error)
                }
            }

            private mutating func read(
                _ chunks: HTTPByteStream.Iterator,
                _ age: @escaping @Sendable () -> Duration,
                _ actor: isolated (any Actor)?
            ) async throws(NetworkError) -> EventStreamUpdate? {
                var chunks = chunks
                do throws(TransportError) {
                    while true {
                        if let event = try parser.next() {
                            stage = .open(chunks, since: age)
                            return .event(event)
                        }
                        guard let chunk = try await chunks.next(isolation: actor) else { break }
                        parser.append(chunk)
                        serverDelay = parser.reconnectionDelay ?? serverDelay
                    }
                } catch {
                    serverDelay = parser.reconnectionDelay ?? serverDelay
                    if age() >= stream.policy.healthyTime { failures = 0 }
                    return try lost(NetworkError(error))
                }
                serverDelay = parser.reconnectionDelay ?? serverDelay
                if age() >= stream.policy.healthyTime { failures = 0 }
                return try lost(nil)
            }

            /// Decides what follows the end of a connection.
            private mutating func lost(
                _ error: NetworkError?
            ) throws(NetworkError) -> EventStreamUpdate? {
                if let error, !error.isTransient { throw error }
                failures += 1
                guard stream.mayConnectAgain, failures < stream.policy.retry.attempts else {
                    if let error { throw error }
                    return nil
                }
                let policy = stream.policy
                let backOff = policy.retry.longestDelay(before: failures) * policy.jitter()
                let asked = Swift.max(serverDelay ?? .zero, error?.retryAfter ?? .zero)
                // What the server asks for is the least; the rest spreads its clients.
                let pause = Swift.min(asked, policy.longestServerPause) + backOff
                stage = .waiting(pause)
                return .waiting(pause, error)
            }

            private func sleep(_ pause: Duration) async throws(NetworkError) {
                do {
                    try await stream.client.configuration.clock.sleep(for: pause)
                } catch {
                    throw NetworkError(.cancelled)
                }
            }
        }
    }
}

extension EventStream {
    /// Opens a connection; returns nil if the server wants no more of them.
    fileprivate func connect(
        _ lastEventID: String
    ) async throws(NetworkError) -> HTTPByteStream? {
        var plan = plan
        if plan.headers[.accept] == nil { plan.headers[.accept] = "text/event-stream" }
        if plan.headers[.cacheControl] == nil { plan.headers[.cacheControl] = "no-store" }
        if !lastEventID.isEmpty { plan.headers[.lastEventID] = lastEventID }
        let reply = try await client.opened(plan, .head, idle: policy.idleTimeout).reply
        if reply.head.status == .noContent { return nil }
        guard reply.head.status == .ok, reply.isEventStream else {
            throw NetworkError.noEventStream(reply.head)
        }
        return reply.body
    }

    /// Whether the request may be sent a second time.
    fileprivate var mayConnectAgain: Bool {
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
        return (try? body.make(client.configuration.json))?.isReplayable ?? false
    }

    fileprivate static func stopwatch<C: Clock<Duration>>(
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
    ///   - endpoint: What is asked for; `GET` unless it says otherwise.
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

    /// The pause that the response asks for in seconds (RFC 9110 section 10.2.3).
    fileprivate var retryAfter: Duration? {
        guard let field = response?.head.headerFields[.retryAfter], let seconds = Int64(field),
            seconds >= 0
        else { return nil }
        return .seconds(seconds)
    }
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
