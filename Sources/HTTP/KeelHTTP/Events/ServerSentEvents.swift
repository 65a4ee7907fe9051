/// The server-sent events of one response, as they arrive.
///
/// The sequence ends when the server closes the stream; an incomplete event is dropped. Dropping the sequence cancels
/// the exchange.
public struct ServerSentEvents: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = TransportError

    private let stream: HTTPByteStream
    private let limits: ServerSentEventLimits

    init(_ stream: HTTPByteStream, limits: ServerSentEventLimits) {
        self.stream = stream
        self.limits = limits
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(
            chunks: stream.makeAsyncIterator(),
            parser: ServerSentEventParser(limits: limits)
        )
    }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var chunks: HTTPByteStream.Iterator
        private var parser: ServerSentEventParser
        private var isDone = false

        fileprivate init(chunks: HTTPByteStream.Iterator, parser: ServerSentEventParser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// The pause that the server requests before a client reconnects.
        public var reconnectionDelay: Duration? { parser.reconnectionDelay }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TransportError) -> ServerSentEvent? {
            guard !isDone else { return nil }
            // If anything below throws, the sequence has ended.
            isDone = true
            while true {
                if let event = try parser.next() {
                    isDone = false
                    return event
                }
                guard let chunk = try await chunks.next(isolation: actor) else { return nil }
                parser.append(chunk)
            }
        }
    }
}

extension HTTPByteStream {
    /// Reads this body as server-sent events.
    public func serverSentEvents(
        limits: ServerSentEventLimits = ServerSentEventLimits()
    ) -> ServerSentEvents {
        ServerSentEvents(self, limits: limits)
    }
}

/// One event of a stream of server-sent events (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server did not set one.
    public var type: String

    /// The data lines, joined with line feeds.
    public var data: String

    /// The identifier last seen on the stream, including this event; empty if there was none.
    ///
    /// Send it as `Last-Event-ID` to resume from here.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// The maximum sizes of the parts of an event stream held in memory.
public struct ServerSentEventLimits: Sendable, Hashable {
    /// The maximum length of a line, in bytes.
    public var maximumLineLength: Int

    /// The maximum size of the data of one event, in bytes.
    public var maximumEventSize: Int

    /// Creates a set of limits.
    public init(maximumLineLength: Int = 1 << 20, maximumEventSize: Int = 8 << 20) {
        self.maximumLineLength = maximumLineLength
        self.maximumEventSize = maximumEventSize
    }
}
