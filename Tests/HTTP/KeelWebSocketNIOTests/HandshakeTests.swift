#if WebSocket
import Foundation
import HTTPTypes
import KeelHTTP
import KeelWebSocket
import Synchronization
import Testing

@testable import KeelWebSocketNIO

@Suite("Opening a connection (RFC 6455 section 4)")
struct HandshakeTests {
    @Test("The proof matches the RFC's example, and the hash matches FIPS 180-4")
    func proof() {
        #expect(
            UpgradeExchange.proof(of: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        )
        for length in 0...200 {
            let bytes = (0..<length).map { UInt8($0) }
            #expect(SHA1.hash(bytes) == ServerProof.hash(bytes))
        }
    }

    @Test("The request is well-formed and contains the app's header fields")
    func request() async throws {
        let seen = Mutex<[String]>([])
        try await RawServer.run { peer in
            let request = try await peer.upgrade(["Sec-WebSocket-Protocol: b"])
            seen.withLock { $0 = request }
            try await peer.write(Frame.close().bytes)
            try await peer.readFrames()
        } while: { port in
            try await NIOWebSocketTransport().withConnection(
                to: KeelWebSocketNIOTests.request(
                    port,
                    path: "/a%20b?c=d",
                    [.authorization: "Bearer x"]
                ),
                configuration: configuration {
                    $0.subprotocols = ["a", "b"]
                    $0.deflate = WebSocketDeflate()
                }
            ) { connection in
                #expect(connection.subprotocol == "b")
                #expect(connection.handshake.extensions == [])
                let end = try await connection.receive()
                #expect(end == nil)
                #expect(connection.peerClose == WebSocketClose(.normal))
            }
        }
        let lines = seen.withLock { $0 }
        #expect(lines.first == "GET /a%20b?c=d HTTP/1.1")
        for line in [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: a, b", "Authorization: Bearer x",
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
        ] { #expect(lines.contains(line)) }
        let key = lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19)
        #expect(key.flatMap { Data(base64Encoded: String($0)) }?.count == 16)
        #expect(lines.contains { $0.hasPrefix("Host: 127.0.0.1:") })
    }

    /// Invalid responses with status 101, with `{proof}` in place of the proof.
    static let badAgreements: [(String, [String])] = [
        ("no fields", []),
        ("no Upgrade", ["Connection: Upgrade", "Sec-WebSocket-Accept: {proof}"]),
        (
            "another Upgrade",
            ["Upgrade: h2c", "Connection: Upgrade", "Sec-WebSocket-Accept: {proof}"]
        ),
        ("no Connection", ["Upgrade: websocket", "Sec-WebSocket-Accept: {proof}"]),
        (
            "another Connection",
            ["Upgrade: websocket", "Connection: close", "Sec-WebSocket-Accept: {proof}"]
        ),
        ("no proof", good("").dropLast()),
        ("an empty proof", good("Sec-WebSocket-Accept:").dropLast(2) + ["Sec-WebSocket-Accept:"]),
        (
            "a wrong proof",
            ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: x"]
        ),
        ("two proofs", good("Sec-WebSocket-Accept: {proof}")),
        ("a subprotocol that was not offered", good("Sec-WebSocket-Protocol: c")),
        ("an empty subprotocol", good("Sec-WebSocket-Protocol:")),
        ("two subprotocols", good("Sec-WebSocket-Protocol: a, b")),
        (
            "two fields of subprotocols",
            good("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b")
        ),
        ("a subprotocol in another case", good("Sec-WebSocket-Protocol: A")),
        ("an unknown extension", good("Sec-WebSocket-Extensions: x-zip")),
        ("deflate twice", good("Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate")),
        ("deflate and more", good("Sec-WebSocket-Extensions: permessage-deflate, x-zip")),
        ("unreadable extensions", good("Sec-WebSocket-Extensions: permessage-deflate; =")),
        ("an unknown parameter", good("Sec-WebSocket-Extensions: permessage-deflate; level=9")),
        (
            "a window out of range",
            good("Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=16")
        ),
    ]

    private static func good(_ more: String) -> [String] {
        ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: {proof}"]
            + (more.isEmpty ? [] : [more])
    }

    @Test(
        "An upgrade response that does not match the request is rejected",
        arguments: badAgreements
    )
    func badAgreement(_ name: String, _ fields: [String]) async throws {
        let error = try await open(
            configuration {
                $0.subprotocols = ["a", "b"]
                $0.deflate = WebSocketDeflate()
            }
        ) { request in
            let key = request.first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
            let text = (["HTTP/1.1 101 Switching Protocols"] + fields).joined(separator: "\r\n")
            return text.replacingOccurrences(of: "{proof}", with: RawServer.proof(of: String(key)))
                + "\r\n\r\n"
        }
        #expect(error?.code == .handshakeInvalid)
    }

    @Test("An extension that was not offered is rejected")
    func uninvited() async throws {
        let error = try await open(configuration()) {
            RawServer.agreement(to: $0, ["Sec-WebSocket-Extensions: permessage-deflate"])
        }
        #expect(error?.code == .handshakeInvalid)
    }

    @Test("An unusual but valid upgrade response is accepted, even after an early hint")
    func unusual() async throws {
        let error = try await open(configuration { $0.deflate = WebSocketDeflate() }) { request in
            let key = request.first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
            return "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 101\r\n"
                + "UPGRADE:  WebSocket \r\nconnection: keep-alive, upgrade\r\n"
                + "sec-websocket-accept:\(RawServer.proof(of: String(key)))\r\n"
                + "Sec-WebSocket-Extensions: permessage-deflate ; client_max_window_bits=\"10\"\r\n\r\n"
        }
        #expect(error == nil)
    }

    @Test(
        "A response that is not HTTP is a protocol violation",
        arguments: ["SSH-2.0-OpenSSH\r\n", "\u{15}\u{3}\u{1}", "HTTP/1.1 abc\r\n\r\n"]
            + [
                "HTTP/1.1 101 X\r\nno colon\r\n\r\n", "HTTP/1.1 101 X\nUpgrade: x\n\n",
                "HTTP/2.0 101 X\r\n\r\n",
            ]
            + ["HTTP/1.1 101 X\r\nA: \(String(repeating: "x", count: 70_000))"]
    )
    func nonsense(_ answer: String) async throws {
        let error = try await open(configuration()) { _ in answer }
        #expect((error?.cause as? TransportError)?.code == .protocolViolation)
        #expect(error?.allowsReconnect == false)
    }

    @Test("A server that hangs up without a response is a lost connection")
    func hangsUp() async throws {
        let error = try await RawServer.run { peer in
            _ = try await peer.readRequest()
        } while: { port in
            try await self.error(port, configuration())
        }
        #expect((error?.cause as? TransportError)?.code == .connectionLost)
        #expect(error?.allowsReconnect == true)
    }

    @Test(
        "A rejection keeps status, fields and the body up to the limit",
        arguments: [
            ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
            (
                "HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "hello", true
            ),
            ("HTTP/1.1 401 No\r\n\r\nhello until the end", "hello unti", false),
            ("HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\nhello", "hello", false),
            ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "", true),
            ("HTTP/1.1 401 No\r\nContent-Length: 10\r\n\r\n0123456789", "0123456789", true),
        ]
    )
    func refusal(_ answer: String, body: String, isComplete: Bool) async throws {
        let error = try await open(configuration { $0.errorBodyLimit = 10 }) { _ in answer }
        #expect(error?.code == .upgradeRefused)
        #expect(error?.response?.head.status.code == 401)
        #expect(error.map { String(decoding: $0.response?.body ?? [], as: UTF8.self) } == body)
        #expect(error?.response?.isComplete == isComplete)
        #expect(error?.description.contains("hello") == false, "contents stay out of logs")
    }

    @Test(
        "The status determines whether reconnecting may help",
        arguments: [(503, true), (429, true), (403, false), (301, false), (200, false)]
    )
    func statuses(_ status: Int, _ allowsReconnect: Bool) async throws {
        let error = try await open(configuration()) { _ in
            "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n"
        }
        #expect(error?.code == .upgradeRefused)
        #expect(error?.response?.head.status.code == status)
        #expect(error?.allowsReconnect == allowsReconnect)
    }

    @Test("Invalid requests are rejected before anything is sent")
    func invalidRequests() async throws {
        var good = KeelWebSocketNIOTests.request(1)
        func code(
            _ change: (inout HTTPRequest) -> Void = { _ in },
            _ settings: (inout WebSocketConfiguration) -> Void = { _ in }
        ) async throws -> WebSocketError.Code? {
            var request = good
            change(&request)
            return try await failure {
                try await NIOWebSocketTransport().withConnection(
                    to: request,
                    configuration: configuration(settings)
                ) { _ in }
            }?.code
        }
        #expect(try await code({ $0.method = .post }) == .invalidRequest)
        #expect(try await code({ $0.scheme = "ftp" }) == .invalidRequest)
        #expect(try await code({ $0.authority = "" }) == .invalidRequest)
        #expect(try await code({ $0.authority = "user@host" }) == .invalidRequest)
        #expect(try await code({ $0.authority = "host:99999" }) == .invalidRequest)
        #expect(try await code({ $0.authority = "[::1]x80" }) == .invalidRequest)
        #expect(try await code({ $0.authority = "host:+80" }) == .invalidRequest)
        #expect(try await code({ $0.path = "relative" }) == .invalidRequest)
        #expect(try await code({ $0.path = "/a#b" }) == .invalidRequest)
        #expect(try await code({ $0.path = "/a b\r\nX: y" }) == .invalidRequest)
        #expect(try await code({ $0.headerFields[.connection] = "close" }) == .invalidRequest)
        #expect(try await code({ $0.headerFields[.secWebSocketKey] = "x" }) == .invalidRequest)
        #expect(try await code({ _ in }, { $0.subprotocols = ["a b"] }) == .invalidRequest)
        #expect(try await code({ _ in }, { $0.subprotocols = ["a", "a"] }) == .invalidRequest)
        #expect(
            try await code(
                { _ in },
                {
                    $0.deflate = WebSocketDeflate()
                    $0.deflate?.clientWindowBits = 7
                }
            )
                == .invalidRequest
        )
        good.path = "/"
        // Nothing listens on this port.
        let refused = try await failure {
            try await NIOWebSocketTransport().withConnection(to: good) { _ in }
        }
        #expect((refused?.cause as? TransportError)?.code == .connectionRefused)
        #expect(refused?.url == "ws://127.0.0.1:1/")
    }

    @Test("A URL is converted to a request")
    func addresses() throws {
        let url = try #require(URL(string: "wss://example.com:8443/a%20b?x=%26"))
        let request = try HTTPRequest(webSocket: url, headerFields: [.authorization: "x"])
        #expect(request.scheme == "wss")
        #expect(request.authority == "example.com:8443")
        #expect(request.path == "/a%20b?x=%26")
        #expect(
            try HTTPRequest(webSocket: #require(URL(string: "ws://[::1]"))).authority == "[::1]"
        )
        for bad in ["https://a", "ws://a/#b", "ws://u:p@a/", "ws:///x"] {
            let url = try #require(URL(string: bad))
            #expect(throws: WebSocketError.self) { try HTTPRequest(webSocket: url) }
        }
    }

    private func open(
        _ configuration: WebSocketConfiguration,
        _ answer: @escaping @Sendable ([String]) -> String
    ) async throws -> WebSocketError? {
        try await RawServer.run { peer in
            let request = try await peer.readRequest()
            try await peer.write(Array(answer(request).utf8))
            // A refusal is followed by closing the socket, an agreement by a Close frame.
            if answer(request).contains(" 101") {
                try await peer.write(Frame.close().bytes)
                try await peer.readFrames()
            }
        } while: { port in
            try await error(port, configuration)
        }
    }

    private func error(
        _ port: Int,
        _ configuration: WebSocketConfiguration
    ) async throws -> WebSocketError? {
        try await failure {
            try await NIOWebSocketTransport().withConnection(
                to: KeelWebSocketNIOTests.request(port),
                configuration: configuration
            ) { connection in
                for try await _ in connection.messages {}
            }
        }
    }
}
#endif
