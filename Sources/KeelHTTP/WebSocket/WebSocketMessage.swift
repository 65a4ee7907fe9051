/// One message of a WebSocket connection, whole, whatever number of frames it travelled in.
public enum WebSocketMessage: Sendable, Hashable {
    /// A message of text.
    case text(String)
    /// A message of bytes.
    case binary([UInt8])

    /// The text, or nil for a message of bytes.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// How many bytes the message has, text counted in UTF-8.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
