public import HTTPTypes
import Synchronization

/// The bytes of one body, in chunks, to be read once by one reader at a time.
///
/// After the last chunk the stream returns nil; after an error, do not read on. Dropping the stream before its end
/// cancels its exchange: a transport ties the exchange to the lifetime of the stream's closure.
public struct HTTPByteStream: AsyncSequence, Sendable {
    public typealias Element = ArraySlice<UInt8>
    public typealias Failure = TransportError

    /// A function that returns the next bytes, or nil at the end of the body.
    public typealias Read = @Sendable () async throws(TransportError) -> ArraySlice<UInt8>?

    private let read: Read
    private let readTrailers: @Sendable () -> HTTPFields?

    /// All bytes, if they were in memory before the stream was created.
    package private(set) var collected: [UInt8]?

    /// Creates a stream over a function that returns the next bytes, or nil at the end of the body.
    ///
    /// `trailers` returns the trailer fields. It may be called several times, and returns nil before the end of the
    /// body.
    public init(
        trailers: @escaping @Sendable () -> HTTPFields? = { nil },
        read: @escaping Read
    ) {
        self.read = read
        readTrailers = trailers
    }

    /// The trailer fields, available once the stream has ended; nil if there are none.
    public var trailers: HTTPFields? { readTrailers() }

    public func makeAsyncIterator() -> Iterator {
        Iterator(read: read)
    }

    /// An iterator over the chunks.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let read: Read

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TransportError) -> ArraySlice<UInt8>? {
            try await read()
        }

        public mutating func next() async throws(TransportError) -> ArraySlice<UInt8>? {
            try await read()
        }
    }

    /// A stream without bytes.
    public static let empty = HTTPByteStream { () async throws(TransportError) in nil }

    /// Creates a stream of the given chunks, which then ends or fails with `error`.
    public static func chunks(
        _ chunks: [[UInt8]],
        thenThrow error: TransportError? = nil
    ) -> HTTPByteStream {
        let queue = ChunkQueue(chunks, error: error)
        return HTTPByteStream { () async throws(TransportError) in try queue.next() }
    }

    /// Creates a stream whose bytes a reader may take at once, as ``collected``.
    package static func collected(
        _ bytes: [UInt8],
        trailers: HTTPFields? = nil
    ) -> HTTPByteStream {
        let queue = ChunkQueue(bytes.isEmpty ? [] : [bytes], error: nil)
        var stream = HTTPByteStream(
            trailers: { trailers },
            read: { () async throws(TransportError) in try queue.next() }
        )
        stream.collected = bytes
        return stream
    }

    /// Returns a stream that passes every read of this one through `transform`.
    ///
    /// Use it in middleware that observes, limits or changes a body.
    public func mapReads(
        _ transform:
            @escaping @Sendable (@escaping Read) async throws(TransportError) -> ArraySlice<UInt8>?
    ) -> HTTPByteStream {
        let read = read
        return HTTPByteStream(trailers: readTrailers) { () async throws(TransportError) in
            try await transform(read)
        }
    }
}

extension HTTPByteStream {
    /// Reads the stream to its end and returns its bytes.
    ///
    /// - Throws: ``TransportError/Code/responseTooLarge`` as soon as more than `limit` bytes have arrived, or the error
    ///   of the stream.
    public func collect(upTo limit: Int) async throws(TransportError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await read() {
            guard chunk.count <= limit - bytes.count else {
                throw TransportError.responseTooLarge(limit: limit)
            }
            bytes.append(contentsOf: chunk)
        }
        return bytes
    }

    /// Reads at most the first `limit` bytes of the stream.
    ///
    /// An error ends the result early and is not thrown, except ``TransportError/Code/cancelled`` and
    /// ``TransportError/Code/deadlineExceeded``.
    package func collectPrefix(_ limit: Int) async throws(TransportError) -> [UInt8] {
        try await readPrefix(limit).bytes
    }

    /// Does the same, and returns whether the end of the stream was reached.
    func readPrefix(
        _ limit: Int
    ) async throws(TransportError) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            do throws(TransportError) {
                guard let chunk = try await read() else { return (bytes, true) }
                bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
            } catch {
                guard error.code != .cancelled, error.code != .deadlineExceeded else { throw error }
                break
            }
        }
        return (bytes, false)
    }
}

private final class ChunkQueue: Sendable {
    private struct State {
        var chunks: ArraySlice<[UInt8]>
        var error: TransportError?
    }

    private let state: Mutex<State>

    init(_ chunks: [[UInt8]], error: TransportError?) {
        state = Mutex(State(chunks: chunks[...], error: error))
    }

    func next() throws(TransportError) -> ArraySlice<UInt8>? {
        try state.withLock { state throws(TransportError) in
            if let chunk = state.chunks.popFirst() { return chunk[...] }
            guard let error = state.error.take() else { return nil }
            throw error
        }
    }
}
