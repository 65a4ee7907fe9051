internal import KeelHTTP
internal import KeelZlib
internal import Synchronization

/// Decodes one content coding of a body in pieces, with bounded memory.
///
/// Holds the last compressed piece, zlib's window (32 KiB) and one piece of output.
final class BodyDecoder: Sendable {
    private struct State {
        let stream = InflateStream()
        var input: ArraySlice<UInt8> = []
        var format: DeflateFormat?
        var isInMember = false
        /// Whether a member has ended, so that further members or padding may follow.
        var hasMember = false
        var isAtEnd = false
        var received: Int64 = 0
        var produced: Int64 = 0
    }

    private static let pieceSize = 64 * 1024

    private let coding: ContentCoding
    private let limits: DecompressionLimits
    /// The decoder of the outermost coding; nil if that is this one.
    private let outermost: BodyDecoder?
    private let state: Mutex<State>

    init(_ coding: ContentCoding, limits: DecompressionLimits, outermost: BodyDecoder?) {
        self.coding = coding
        self.limits = limits
        self.outermost = outermost
        state = Mutex(State())
    }

    func next(
        from read: HTTPByteStream.Read
    ) async throws(TransportError) -> ArraySlice<UInt8>? {
        while true {
            if let piece = try produce() { return piece }
            guard !isAtEnd else { return nil }
            do throws(TransportError) {
                if let piece = try await read() {
                    try take(piece)
                } else {
                    try finish()
                }
            } catch {
                state.withLock { $0.isAtEnd = true }
                throw error
            }
        }
    }

    private var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    private var received: Int64 { state.withLock { $0.received } }

    private func take(_ piece: ArraySlice<UInt8>) throws(TransportError) {
        state.withLock { state in
            state.received += Int64(piece.count)
            state.input = state.input.isEmpty ? piece : state.input + piece
        }
    }

    private func finish() throws(TransportError) {
        let isWhole = state.withLock { state in
            state.isAtEnd = true
            // An empty body counts as an empty text: some servers send one.
            return state.received == 0 || state.hasMember && !state.isInMember
        }
        guard isWhole else {
            throw TransportError(
                .decompressionFailed,
                "The compressed response body ended early.",
                phase: .readBody
            )
        }
    }

    private func produce() throws(TransportError) -> ArraySlice<UInt8>? {
        // Codings upon codings would multiply their ratios.
        let wireBytes = outermost?.received ?? received
        let result = state.withLock { state -> Result<ArraySlice<UInt8>?, TransportError> in
            guard !state.isAtEnd else { return .success(nil) }
            do throws(InflateFailure) {
                let piece = try decode(&state)
                guard limits.permit(state.produced, from: wireBytes) else {
                    state.isAtEnd = true
                    return .failure(TransportError(.decompressionLimit, phase: .readBody))
                }
                return .success(piece)
            } catch {
                state.isAtEnd = true
                return .failure(TransportError(.decompressionFailed, phase: .readBody))
            }
        }
        return try result.get()
    }

    private func decode(_ state: inout State) throws(InflateFailure) -> ArraySlice<UInt8>? {
        while !state.input.isEmpty {
            if !state.isInMember {
                guard try begin(&state) else { return nil }
            }
            let (output, isAtEnd) = try state.stream.inflate(
                &state.input,
                upTo: Self.pieceSize
            )
            state.produced += Int64(output.count)
            if isAtEnd {
                state.isInMember = false
                state.hasMember = true
            }
            if !output.isEmpty { return output[...] }
        }
        // The window may hold more than one piece of output.
        guard state.isInMember else { return nil }
        let (output, isAtEnd) = try state.stream.inflate(&state.input, upTo: Self.pieceSize)
        state.produced += Int64(output.count)
        if isAtEnd {
            state.isInMember = false
            state.hasMember = true
        }
        return output.isEmpty ? nil : output[...]
    }

    private func begin(_ state: inout State) throws(InflateFailure) -> Bool {
        if state.hasMember {
            // A member may be followed by another, or by zeros up to a block's end (as in tar).
            guard coding == .gzip else { throw .corrupt }
            if state.format == .gzip, state.input.first == 0 {
                guard state.input.allSatisfy({ $0 == 0 }) else { throw .corrupt }
                state.input = []
                return false
            }
        }
        let format: DeflateFormat
        switch coding {
        case .gzip: format = .gzip
        case .deflate:
            guard state.input.count >= 2 else { return false }
            format = Self.isZlibHeader(state.input.prefix(2)) ? .zlib : .raw
        }
        try state.stream.open(format)
        state.format = format
        state.isInMember = true
        return true
    }

    /// RFC 1950 section 2.2: the method is 8, and both bytes together are a multiple of 31.
    private static func isZlibHeader(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let second = bytes.last else { return false }
        return first & 0x0F == 8 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}

extension HTTPByteStream {
    /// Returns the stream without codings, which are given in the order in which they were applied.
    func decoded(from codings: [ContentCoding], limits: DecompressionLimits) -> HTTPByteStream {
        var stream = self
        var outermost: BodyDecoder?
        for coding in codings.reversed() {
            let decoder = BodyDecoder(coding, limits: limits, outermost: outermost)
            outermost = outermost ?? decoder
            stream = stream.mapReads { read async throws(TransportError) in
                try await decoder.next(from: read)
            }
        }
        return stream
    }
}

/// A supported content coding (RFC 9110 section 8.4.1).
enum ContentCoding {
    case gzip
    case deflate

    /// Returns the codings of a `Content-Encoding`, in the order in which they were applied.
    ///
    /// Nil if one of them is unknown, or if there are more than three.
    static func list(_ value: String) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for item in value.split(separator: ",") {
            switch item.filter({ $0 != " " && $0 != "\t" }).lowercased() {
            case "gzip", "x-gzip": codings.append(.gzip)
            case "deflate": codings.append(.deflate)
            case "identity", "": break
            default: return nil
            }
        }
        return codings.count <= 3 ? codings : nil
    }
}
