#if WebSocket
import KeelWebSocket

enum ReceivedEvent: Equatable, Sendable {
    case message(WebSocketMessage)
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketClose)
}

/// Parses the bytes of a server into events, one at a time, under the rules of RFC 6455.
///
/// Parsing happens only in `next()`: without calls, only appended bytes take memory.
struct FrameReceiver {
    private enum Stage {
        case header
        case payload(FrameHeader, remaining: Int)
        case ended
    }

    private let maximumFrameSize: Int
    private var assembly: MessageAssembly
    private var stage = Stage.header
    private var control: [UInt8] = []

    private var input: [UInt8] = []
    private var position = 0

    init(_ configuration: WebSocketConfiguration, inflater: Inflater?) {
        maximumFrameSize = configuration.maximumFrameSize
        assembly = MessageAssembly(
            maximumMessageSize: configuration.maximumMessageSize,
            inflater: inflater
        )
    }

    /// Appends received bytes; drops those after a Close frame.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if case .ended = stage { return }
        if position > 0 {
            input.removeSubrange(..<position)
            position = 0
        }
        input.append(contentsOf: bytes)
    }

    /// Returns the next event, or nil if bytes are missing.
    ///
    /// - Throws: The peer's violation; there are no events after it.
    mutating func next() throws(Violation) -> ReceivedEvent? {
        do throws(Violation) {
            while true {
                switch stage {
                case .ended: return nil
                case .header:
                    guard let header = try readHeader() else { return nil }
                    stage = .payload(header, remaining: header.payloadLength)
                case .payload(let header, let remaining):
                    let count = min(remaining, input.count - position)
                    try take(count, of: header)
                    guard count == remaining else {
                        stage = .payload(header, remaining: remaining - count)
                        return nil
                    }
                    stage = .header
                    if let event = try end(header) { return event }
                }
            }
        } catch {
            finish()
            throw error
        }
    }

    private mutating func finish() {
        stage = .ended
        input = []
        position = 0
    }

    private mutating func readHeader() throws(Violation) -> FrameHeader? {
        let allowsCompression = assembly.inflater != nil
        let position = position
        // `withUnsafeBytes` does not preserve typed errors; a result does.
        let found = try input.withUnsafeBytes { bytes in
            Result { () throws(Violation) in
                try FrameHeader.read(
                    UnsafeRawBufferPointer(rebasing: bytes[position...]),
                    allowsCompression: allowsCompression
                )
            }
        }.get()
        guard let (header, length) = found else { return nil }
        self.position += length
        guard header.payloadLength <= maximumFrameSize else {
            throw .tooLarge("A frame is larger than the limit of \(maximumFrameSize) bytes.")
        }
        if !header.opcode.isControl { try assembly.begin(header) }
        return header
    }

    private mutating func take(_ count: Int, of header: FrameHeader) throws(Violation) {
        defer {
            position += count
            // Bytes are not moved while there is more to read, nor kept when there is not.
            if position == input.count {
                input.removeAll(keepingCapacity: input.count <= 64 << 10)
                position = 0
            }
        }
        guard count > 0 else { return }
        let range = position..<position + count
        if header.opcode.isControl {
            control.append(contentsOf: input[range])
        } else {
            try input.withUnsafeBytes { bytes in
                Result { () throws(Violation) in
                    try assembly.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
                }
            }.get()
        }
    }

    private mutating func end(_ header: FrameHeader) throws(Violation) -> ReceivedEvent? {
        guard header.opcode.isControl else {
            return try assembly.end(header).map { .message($0) }
        }
        let payload = control
        control = []
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default:
            let close = try WebSocketClose(payload: payload)
            finish()
            return .close(close)
        }
    }
}
#endif
