/// A complete message of a WebSocket connection, regardless of its number of frames.
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])

    /// The text, or nil for a binary message.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The size of the message in bytes, with text in UTF-8.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
