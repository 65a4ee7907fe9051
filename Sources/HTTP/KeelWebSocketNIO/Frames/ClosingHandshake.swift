#if WebSocket
import KeelWebSocket

extension WebSocketClose {
    init(payload: [UInt8]) throws(Violation) {
        guard !payload.isEmpty else {
            self.init(.noStatus)
            return
        }
        guard payload.count >= 2 else {
            throw .protocolError("A Close frame contains half a code.")
        }
        let code = WebSocketCloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else {
            throw .protocolError("A Close frame contains a code that must not be sent.")
        }
        var validator = UTF8Validator()
        let isText = payload[2...].withUnsafeBytes { validator.accept($0) } && validator.isComplete
        guard isText else { throw .invalidUTF8("The reason of a Close frame is not UTF-8.") }
        self.init(code, reason: String(decoding: payload[2...], as: UTF8.self))
    }

    var payload: [UInt8] {
        guard code != .noStatus else { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xff)] + Array(reason.utf8)
    }
}

/// The state of the closing handshake (RFC 6455 sections 5.5.1 and 7.1).
struct ClosingHandshake: Equatable, Sendable {
    private(set) var sent: WebSocketClose?
    private(set) var received: WebSocketClose?
    private(set) var hasFailed = false

    var allowsSending: Bool { sent == nil && received == nil && !hasFailed }

    var allowsReceiving: Bool { received == nil && !hasFailed }

    var isComplete: Bool { sent != nil && received != nil }

    /// Closes from this side; returns the frame to send, or nil if one was sent before.
    mutating func close(_ close: WebSocketClose) -> WebSocketClose? {
        guard sent == nil else { return nil }
        sent = close
        return close
    }

    /// Handles the peer's Close frame; returns the answer, or nil if none is due.
    ///
    /// The answer repeats the peer's code but not its reason.
    mutating func receive(_ close: WebSocketClose) -> WebSocketClose? {
        received = close
        return self.close(WebSocketClose(close.code))
    }

    /// Fails the connection; returns the frame to send, or nil if one was sent before.
    mutating func fail(_ violation: Violation) -> WebSocketClose? {
        hasFailed = true
        return close(WebSocketClose(violation.closeCode, reason: violation.text))
    }
}
#endif
