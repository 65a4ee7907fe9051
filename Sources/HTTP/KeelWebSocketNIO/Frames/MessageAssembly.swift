#if WebSocket
import KeelWebSocket

/// Assembles the payloads of data frames into messages, within the limits.
///
/// Text is validated and compressed data inflated as it arrives, so that a message that is too
/// large or not UTF-8 is refused at the first offending byte.
struct MessageAssembly {
    /// The maximum size of a message, in bytes after decompression.
    let maximumMessageSize: Int
    let inflater: Inflater?

    private var kind: Opcode?
    private var isCompressed = false
    private var bytes: [UInt8] = []
    private var validator = UTF8Validator()

    init(maximumMessageSize: Int, inflater: Inflater?) {
        self.maximumMessageSize = maximumMessageSize
        self.inflater = inflater
    }

    mutating func begin(_ header: FrameHeader) throws(Violation) {
        if header.opcode == .continuation {
            guard kind != nil else {
                throw .protocolError("A continuation frame does not continue a message.")
            }
        } else {
            guard kind == nil else {
                throw .protocolError("A message begins inside another message.")
            }
            kind = header.opcode
            isCompressed = header.isCompressed
        }
        guard isCompressed || header.payloadLength <= maximumMessageSize - bytes.count else {
            throw tooLarge
        }
        if !isCompressed {
            // Memory follows the received bytes, not the announced length.
            bytes.reserveCapacity(bytes.count + min(header.payloadLength, 64 << 10))
        }
    }

    mutating func append(_ payload: UnsafeRawBufferPointer) throws(Violation) {
        guard isCompressed, let inflater else { return try take(payload) }
        try inflater.inflate(payload) { (piece) throws(Violation) in try take(piece) }
    }

    mutating func end(_ header: FrameHeader) throws(Violation) -> WebSocketMessage? {
        guard header.isFinal else { return nil }
        if isCompressed, let inflater {
            try inflater.finishMessage { (piece) throws(Violation) in try take(piece) }
        }
        defer {
            kind = nil
            bytes = []
            validator = UTF8Validator()
        }
        guard kind == .text else { return .binary(bytes) }
        guard validator.isComplete else { throw .invalidUTF8("A text ends within a character.") }
        return .text(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func take(_ piece: UnsafeRawBufferPointer) throws(Violation) {
        guard piece.count <= maximumMessageSize - bytes.count else { throw tooLarge }
        if kind == .text, !validator.accept(piece) {
            throw .invalidUTF8("A text is not UTF-8.")
        }
        bytes.append(contentsOf: piece)
    }

    private var tooLarge: Violation {
        .tooLarge("A message is larger than the limit of \(maximumMessageSize) bytes.")
    }
}
#endif
