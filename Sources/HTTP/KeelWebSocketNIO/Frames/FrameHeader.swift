#if WebSocket
import KeelWebSocket

/// The opcode of a frame (RFC 6455 section 5.2).
enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue & 8 != 0 }
}

/// The header of a server's frame, checked against the rules for single frames.
struct FrameHeader: Equatable, Sendable {
    var opcode: Opcode
    var isFinal: Bool
    /// RSV1, which permessage-deflate sets on the first frame of a compressed message.
    var isCompressed: Bool
    var payloadLength: Int

    /// The maximum payload of a control frame, in bytes.
    static let maximumControlLength = 125

    /// Reads the header at the beginning of `bytes`.
    ///
    /// A violation is reported at the first byte that shows it, without waiting for the rest of a
    /// frame that will be refused.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes, which may end anywhere.
    ///   - allowsCompression: Whether permessage-deflate was agreed on.
    /// - Returns: The header and its length, or nil if bytes are missing.
    /// - Throws: A violation of RFC 6455 section 5.
    static func read(
        _ bytes: UnsafeRawBufferPointer,
        allowsCompression: Bool
    ) throws(Violation) -> (header: FrameHeader, length: Int)? {
        guard let first = bytes.first else { return nil }
        guard let opcode = Opcode(rawValue: first & 0x0f) else {
            throw .protocolError("A frame has a reserved opcode.")
        }
        let isFinal = first & 0x80 != 0
        let isCompressed = first & 0x40 != 0
        guard first & 0x30 == 0, !isCompressed || allowsCompression else {
            throw .protocolError("A frame has a reserved bit set.")
        }
        if opcode.isControl {
            guard isFinal else { throw .protocolError("A control frame is fragmented.") }
            guard !isCompressed else { throw .protocolError("A control frame is compressed.") }
        } else if opcode == .continuation, isCompressed {
            throw .protocolError("A continuation frame has the compression bit set.")
        }

        guard bytes.count >= 2 else { return nil }
        guard bytes[1] & 0x80 == 0 else {
            throw .protocolError("A frame from the server is masked.")
        }
        let short = Int(bytes[1] & 0x7f)
        if opcode.isControl, short > maximumControlLength {
            throw .protocolError("A control frame is too long.")
        }
        let size = short < 126 ? 2 : short == 126 ? 4 : 10
        guard bytes.count >= size else { return nil }
        var length = UInt64(short)
        if size > 2 {
            length = bytes[2..<size].reduce(0) { $0 << 8 | UInt64($1) }
            guard length > (size == 4 ? 125 : 0xffff), length <= UInt64(Int.max) else {
                throw .protocolError("The length of a frame is encoded incorrectly.")
            }
        }
        return (FrameHeader(opcode, isFinal, isCompressed, Int(length)), size)
    }

    init(_ opcode: Opcode, _ isFinal: Bool, _ isCompressed: Bool, _ payloadLength: Int) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.payloadLength = payloadLength
    }
}

struct Violation: Error, Equatable {
    let code: WebSocketError.Code
    let closeCode: WebSocketCloseCode
    let text: String

    static func protocolError(_ text: String) -> Violation {
        Violation(code: .protocolViolation, closeCode: .protocolError, text: text)
    }

    static func invalidUTF8(_ text: String) -> Violation {
        Violation(code: .invalidUTF8, closeCode: .invalidPayload, text: text)
    }

    static func tooLarge(_ text: String) -> Violation {
        Violation(code: .messageTooLarge, closeCode: .messageTooBig, text: text)
    }

    var error: WebSocketError { WebSocketError(code, text) }
}
#endif
