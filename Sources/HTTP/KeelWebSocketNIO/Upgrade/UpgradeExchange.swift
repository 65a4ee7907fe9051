#if WebSocket
import HTTPTypes
import KeelHTTP
import KeelWebSocket

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The request for a WebSocket, and the verification of the response (RFC 6455 section 4).
struct UpgradeExchange: Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    let head: [UInt8]

    private let key: String
    private let configuration: WebSocketConfiguration

    /// The fields that only the upgrade may set.
    private static let reserved: [String] = [
        "connection", "content-length", "host", "sec-websocket-accept", "sec-websocket-extensions",
        "sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version",
        "transfer-encoding", "upgrade",
    ]

    /// Creates the request.
    ///
    /// - Throws: ``WebSocketError/Code/invalidRequest`` if the request or the offers are invalid.
    init(
        _ request: HTTPRequest,
        _ configuration: WebSocketConfiguration,
        using generator: inout some RandomNumberGenerator
    ) throws(WebSocketError) {
        let scheme = request.scheme?.lowercased()
        guard request.method == .get, let scheme, ["ws", "wss", "http", "https"].contains(scheme),
            let place = Authority(request.authority ?? ""),
            let path = request.path, path.hasPrefix("/"), Self.isTarget(path)
        else { throw WebSocketError(.invalidRequest) }
        for field in request.headerFields
        where Self.reserved.contains(field.name.canonicalName) {
            throw WebSocketError(
                .invalidRequest,
                "The field \(field.name.rawName) belongs to the upgrade and cannot be set."
            )
        }
        let subprotocols = configuration.subprotocols
        guard
            subprotocols.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(TokenScanner.isTokenByte) }
            ),
            Set(subprotocols).count == subprotocols.count
        else {
            throw WebSocketError(.invalidRequest, "A subprotocol is not a token, or is repeated.")
        }
        guard configuration.deflate?.isValid ?? true else {
            throw WebSocketError(.invalidRequest, "The compression offer is out of range.")
        }

        self.configuration = configuration
        isSecure = scheme == "wss" || scheme == "https"
        host = place.host
        port = place.port ?? (isSecure ? 443 : 80)
        let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        key = Data(nonce).base64EncodedString()
        var fields = [
            ("Host", request.authority ?? ""), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
        ]
        if !subprotocols.isEmpty {
            fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
        }
        if let deflate = configuration.deflate {
            fields.append(("Sec-WebSocket-Extensions", deflate.offer))
        }
        fields += request.headerFields.joiningCookies.map { ($0.name.rawName, $0.value) }
        // HTTPFields allows no line breaks in values; the target was checked above.
        let lines = ["GET \(path) HTTP/1.1"] + fields.map { "\($0): \($1)" } + ["", ""]
        head = Array(lines.joined(separator: "\r\n").utf8)
    }

    /// Returns whether a target may appear in a request line: printable ASCII without a fragment.
    private static func isTarget(_ path: String) -> Bool {
        path.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }
    }

    /// Verifies a response head with status 101.
    ///
    /// - Throws: The reason the response is invalid.
    func accept(_ head: HTTPResponse) throws(AnswerFlaw) -> UpgradeAgreement {
        let fields = head.headerFields
        guard Self.list(fields, "Upgrade").contains(where: { $0.lowercased() == "websocket" }),
            Self.list(fields, "Connection").contains(where: { $0.lowercased() == "upgrade" })
        else { throw AnswerFlaw("The server switched to a protocol other than WebSocket.") }
        guard Self.values(fields, "Sec-WebSocket-Accept") == [Self.proof(of: key)] else {
            throw AnswerFlaw("The server's Sec-WebSocket-Accept value is wrong.")
        }
        let subprotocols = Self.values(fields, "Sec-WebSocket-Protocol")
        guard subprotocols.count <= 1, subprotocols.allSatisfy(configuration.subprotocols.contains)
        else { throw AnswerFlaw("The server chose a subprotocol that was not offered.") }

        let values = Self.values(fields, "Sec-WebSocket-Extensions")
        guard let extensions = ExtensionHeader.parse(values) else {
            throw AnswerFlaw("The server's list of extensions cannot be read.")
        }
        var deflate: DeflateAgreement?
        for named in extensions {
            guard let offer = configuration.deflate, deflate == nil,
                named.name == WebSocketDeflate.extensionName
            else { throw AnswerFlaw("The server uses an extension that was not offered.") }
            deflate = try DeflateAgreement(named, to: offer)
        }
        return UpgradeAgreement(
            handshake: WebSocketHandshake(
                head: head,
                subprotocol: subprotocols.first,
                extensions: extensions.map(\.description)
            ),
            deflate: deflate
        )
    }

    /// Returns the server's required answer to a key (RFC 6455 section 4.2.2).
    static func proof(of key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Data(SHA1.hash(Array(text.utf8))).base64EncodedString()
    }

    private static func values(_ fields: HTTPFields, _ name: String) -> [String] {
        guard let name = HTTPField.Name(name) else { return [] }
        return fields[values: name]
    }

    private static func list(_ fields: HTTPFields, _ name: String) -> [String] {
        values(fields, name).flatMap { value in
            value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
    }
}

struct UpgradeAgreement: Sendable {
    var handshake: WebSocketHandshake
    var deflate: DeflateAgreement?
}

private struct Authority {
    /// The host for the lookup: without the brackets of an IPv6 address.
    let host: String
    let port: Int?

    init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard isPlain, !text.contains("@"), !text.contains("/") else { return nil }
        let name: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            name = text.prefix { $0 != ":" }
            rest = text[name.endIndex...]
        }
        guard !name.isEmpty else { return nil }
        host = String(name)
        if rest.isEmpty {
            port = nil
        } else {
            let digits = rest.dropFirst()
            guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt16(digits), number > 0
            else { return nil }
            port = Int(number)
        }
    }
}
#endif
