import Synchronization

extension HTTPBody {
    /// The size of the chunks in which bodies are read from disk and from memory.
    static let pieceSize = 64 * 1024

    /// Creates a body that concatenates others.
    ///
    /// The length is known if that of every part is, and the body is replayable if every part is. A part that produces
    /// more or fewer bytes than it announced fails the exchange with ``TransportError/Code/bodyProducerFailed``. The
    /// result is in memory if all parts are and their total is at most `limit` bytes.
    init(joining bodies: [HTTPBody], inMemoryUpTo limit: Int64) {
        let lengths = bodies.compactMap(\.length)
        let length = lengths.count == bodies.count ? lengths.reduce(0, +) : nil
        let inMemory = bodies.compactMap(\.bytes)
        if inMemory.count == bodies.count, let length, length <= limit {
            self.init(Array(inMemory.joined()))
            return
        }
        self.init(
            length: length,
            isReplayable: bodies.allSatisfy(\.isReplayable)
        ) { () async throws(TransportError) in
            let reader = JoinedBodyReader(bodies)
            return HTTPByteStream { () async throws(TransportError) in try await reader.next() }
        }
    }

    /// Opens the body as a stream of chunks; bytes in memory are divided into chunks of ``pieceSize``.
    func openInPieces() async throws(TransportError) -> HTTPByteStream {
        guard let bytes, bytes.count > Self.pieceSize else { return try await open() }
        let position = Mutex(0)
        return HTTPByteStream { () async throws(TransportError) in
            position.withLock { position -> ArraySlice<UInt8>? in
                guard position < bytes.count else { return nil }
                let piece = bytes[position..<min(position + Self.pieceSize, bytes.count)]
                position = piece.endIndex
                return piece
            }
        }
    }
}

private final class JoinedBodyReader: Sendable {
    private struct State {
        var rest: ArraySlice<HTTPBody>
        var stream: HTTPByteStream?
        /// The number of bytes that the open body still has to produce, if it announced a length.
        var remaining: Int64?
    }

    private let state: Mutex<State>

    init(_ bodies: [HTTPBody]) {
        state = Mutex(State(rest: bodies[...]))
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        while let stream = try await currentStream() {
            var pieces = stream.makeAsyncIterator()
            let piece = try await pieces.next()
            try count(piece)
            if let piece, !piece.isEmpty { return piece }
        }
        return nil
    }

    private func currentStream() async throws(TransportError) -> HTTPByteStream? {
        if let stream = state.withLock({ $0.stream }) { return stream }
        guard let body = state.withLock({ $0.rest.popFirst() }) else { return nil }
        let stream = try await body.openInPieces()
        state.withLock { state in
            state.stream = stream
            state.remaining = body.length
        }
        return stream
    }

    private func count(_ piece: ArraySlice<UInt8>?) throws(TransportError) {
        let isAsAnnounced = state.withLock { state in
            guard let piece else {
                defer { state.stream = nil }
                return (state.remaining ?? 0) == 0
            }
            guard let remaining = state.remaining else { return true }
            state.remaining = remaining - Int64(piece.count)
            return remaining >= piece.count
        }
        guard !isAsAnnounced else { return }
        throw TransportError(
            .bodyProducerFailed,
            "The length of a part of the request body differs from the announced length."
        )
    }
}
