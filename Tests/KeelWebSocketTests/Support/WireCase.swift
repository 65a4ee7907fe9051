#if WebSocket
import KeelHTTP
import Testing

/// What a server sends after the handshake, and what must come of it.
struct WireCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the server sends.
    var bytes: [UInt8]
    /// The messages that the app gets.
    var messages: [WebSocketMessage] = []
    /// The payloads of the pongs that the server gets.
    var pongs: [[UInt8]] = []
    /// The error that the app gets, or nil for an orderly end.
    var error: WebSocketError.Code?
    /// The code of the Close frame that the server gets.
    var closeCode: UInt16? = 1000
    /// How the configuration of the client differs from the usual.
    var change: @Sendable (inout WebSocketConfiguration) -> Void = { _ in }

    /// A case that ends with the server's Close frame.
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

    /// A case that ends with a violation; a whole message follows that must not come through.
    static func refused(
        _ description: String,
        _ frames: [Frame],
        gives messages: [WebSocketMessage] = [],
        as error: WebSocketError.Code = .protocolViolation,
        closeCode: UInt16 = 1002
    ) -> WireCase {
        WireCase(
            testDescription: description,
            bytes: (frames + [.text("after")]).flatMap(\.bytes),
            messages: messages,
            error: error,
            closeCode: closeCode
        )
    }
}
#endif
