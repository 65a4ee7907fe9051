/// The lines of a response body, as they arrive.
///
/// Lines end with CR, LF or CRLF; text after the last line end is a line as well. Bytes that are not UTF-8 become
/// U+FFFD. Dropping the sequence cancels the exchange.
public struct HTTPLines: AsyncSequence, Sendable {
    public typealias Element = String
    public typealias Failure = TransportError

    private let stream: HTTPByteStream
    private let limit: Int

    init(_ stream: HTTPByteStream, limit: Int) {
        self.stream = stream
        self.limit = limit
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(chunks: stream.makeAsyncIterator(), splitter: LineSplitter(limit: limit))
    }

    /// An iterator over the lines.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var chunks: HTTPByteStream.Iterator
        fileprivate var splitter: LineSplitter
        private var isDone = false

        fileprivate init(chunks: HTTPByteStream.Iterator, splitter: LineSplitter) {
            self.chunks = chunks
            self.splitter = splitter
        }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TransportError) -> String? {
            guard !isDone else { return nil }
            // If anything below throws, the sequence has ended.
            isDone = true
            while true {
                if let line = try splitter.next() {
                    isDone = false
                    return String(decoding: line, as: UTF8.self)
                }
                guard let chunk = try await chunks.next(isolation: actor) else {
                    return splitter.finish().map { String(decoding: $0, as: UTF8.self) }
                }
                splitter.append(chunk)
            }
        }
    }
}

extension HTTPByteStream {
    /// Reads this body as lines, such as one JSON text per line.
    ///
    /// A line of more than `limit` bytes, 1 MiB by default, ends the sequence with ``TransportError/Code/lineTooLong``.
    public func lines(upTo limit: Int = 1 << 20) -> HTTPLines {
        HTTPLines(self, limit: limit)
    }
}
