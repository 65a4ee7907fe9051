#if WebSocket
import KeelWebSocket
import Testing

/// The bytes of a server after the handshake, and the expected outcome.
struct WireCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var bytes: [UInt8]
    var messages: [WebSocketMessage] = []
    /// The payloads of the pongs that the server receives.
    var pongs: [[UInt8]] = []
    /// The error that the app receives, or nil for an orderly end.
    var error: WebSocketError.Code?
    /// The code of the Close frame that the server receives.
    var closeCode: UInt16? = 1000
    /// The change to the client's default configuration.
    var change: @Sendable (inout WebSocketConfiguration) -> Void = { _ in }

    /// Returns a case that ends with the server's Close frame.
    static func fine(
        _ description: String,
        _ frames: [Frame],
        gives messages: [WebSocketMessage],
        pongs: [[UInt8]] = []
    ) -> WireCase {
        WireCase(
            testDescription: description,
            bytes: (frames + [.close()]).flatMap(\.bytes),
            messages: messages,
            pongs: pongs
        )
    }

    /// Returns a case of a violation, followed by a message that must not be delivered.
    static func refused(
        _ description: String,
        _ frames: [Frame],
        gives messages: [WebSocketMessage] = [],
        as error: WebSocketError.Code = .protocolViolation
    ) -> WireCase {
        let bytes = (frames + [.text("after")]).flatMap(\.bytes)
        var row = broken(description, bytes: bytes, as: error)
        row.messages = messages
        return row
    }

    /// Returns a case of a violation in these bytes.
    static func broken(
        _ description: String,
        bytes: [UInt8],
        as error: WebSocketError.Code = .protocolViolation
    ) -> WireCase {
        let closeCode: UInt16 =
            switch error {
            case .invalidUTF8: 1007
            case .messageTooLarge: 1009
            default: 1002
            }
        return WireCase(
            testDescription: description,
            bytes: bytes,
            error: error,
            closeCode: closeCode
        )
    }
}
#endif
