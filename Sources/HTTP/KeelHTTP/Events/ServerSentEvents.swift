/// The server-sent events of one response, as they arrive.
///
/// The sequence ends when the server closes the stream and drops an incomplete event. Dropping the sequence cancels the
/// exchange.
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

        fileprivate init(chunks: HTTPByteStream.Iterator, parser: ServerSentEventParser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// The pause that the server requests before a client reconnects.
        public var reconnectionDelay: Duration? { parser.reconnectionDelay }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TransportError) -> ServerSentEvent? {
            while true {
                if let event = try parser.next() { return event }
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
