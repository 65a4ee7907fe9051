#if WebSocket
import KeelWebSocket

extension WebSocketDeflate {
    static let extensionName = "permessage-deflate"

    static let windows = 8...15

    /// The text of the offer in the request (RFC 7692 section 7.1).
    var offer: String {
        var text = Self.extensionName
        if serverNoContextTakeover { text += "; server_no_context_takeover" }
        if clientNoContextTakeover { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        // Without a value, the server may choose.
        text += "; client_max_window_bits"
        if clientWindowBits < 15 { text += "=\(clientWindowBits)" }
        return text
    }

    var isValid: Bool {
        Self.windows.contains(clientWindowBits) && Self.windows.contains(serverWindowBits)
            && (1...9).contains(level)
    }
}

struct DeflateAgreement: Equatable, Sendable {
    var clientWindowBits: Int
    var serverWindowBits: Int
    var clientNoContextTakeover: Bool
    var serverNoContextTakeover: Bool

    /// Reads the server's answer to an offer (RFC 7692 sections 5 and 7.1).
    ///
    /// - Throws: The reason the answer does not match the offer.
    init(_ answer: ExtensionHeader, to offer: WebSocketDeflate) throws(AnswerFlaw) {
        clientWindowBits = offer.clientWindowBits
        serverWindowBits = 15
        clientNoContextTakeover = offer.clientNoContextTakeover
        serverNoContextTakeover = false
        var seen: Set<String> = []
        for parameter in answer.parameters {
            guard seen.insert(parameter.name).inserted else {
                throw AnswerFlaw("The server repeats a parameter of permessage-deflate.")
            }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): serverNoContextTakeover = true
            case ("client_no_context_takeover", nil): clientNoContextTakeover = true
            case ("server_max_window_bits", let value):
                serverWindowBits = try Self.window(value, upTo: offer.serverWindowBits)
            case ("client_max_window_bits", let value):
                clientWindowBits = try Self.window(value, upTo: offer.clientWindowBits)
            default:
                throw AnswerFlaw(
                    "The server sends a parameter that permessage-deflate does not have."
                )
            }
        }
        guard serverNoContextTakeover || !offer.serverNoContextTakeover,
            serverWindowBits <= offer.serverWindowBits
        else {
            throw AnswerFlaw(
                "The server accepted permessage-deflate with terms that were not offered."
            )
        }
    }

    private static func window(_ value: String?, upTo limit: Int) throws(AnswerFlaw) -> Int {
        // Digits only, without a sign or leading zeros (section 7.1.2.1).
        guard let value, let bits = Int(value), "\(bits)" == value,
            WebSocketDeflate.windows.contains(bits), bits <= limit
        else { throw AnswerFlaw("The server chose a window size that was not offered.") }
        return bits
    }
}

/// The reason a server's answer to the opening handshake is invalid.
struct AnswerFlaw: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    var error: WebSocketError { WebSocketError(.handshakeInvalid, text) }
}
#endif
