#if WebSocket
import HTTPTypes
import KeelHTTP
import KeelWebSocket
import NIOSSL
import Testing

@Suite("Secure connections")
struct SecureTests {
    /// Who answers, under which name it is asked for, and what comes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var host = "localhost"
        var trust = NIOWebSocketTransport.Trust.only(pem: Array(TestCertificate.certificate.utf8))
        var speaksTLS = true
        var error: TransportError.Code?
    }

    static let cases: [Case] = [
        Case(testDescription: "a trusted certificate of that name"),
        Case(
            testDescription: "a trusted certificate of another name",
            host: "127.0.0.1",
            error: .tlsHostnameMismatch
        ),
        Case(
            testDescription: "a certificate that nobody trusts",
            trust: .system,
            error: .tlsUntrusted
        ),
        Case(testDescription: "a server without TLS", speaksTLS: false, error: .tlsHandshakeFailed),
    ]

    @Test("The certificate and the name are checked", arguments: cases)
    func secure(_ row: Case) async throws {
        let tls = try row.speaksTLS ? TestCertificate.server() : nil
        try await RawServer.run(tls: tls) { peer in
            guard row.speaksTLS else {
                _ = try await peer.readByte()
                return try await peer.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            }
            try await peer.upgrade()
            let frame = try await peer.readFrame()
            try await peer.write(Frame(opcode: 1, payload: frame?.payload ?? []).bytes)
            _ = try await peer.readFrame()
            try await peer.write(Frame.close().bytes)
        } while: { port in
            let request = HTTPRequest(
                method: .get,
                scheme: "wss",
                authority: "\(row.host):\(port)",
                path: "/"
            )
            let error = try await failure {
                try await NIOWebSocketTransport(trust: row.trust).withConnection(
                    to: request,
                    configuration: configuration()
                ) { connection in
                    try await connection.send("secret")
                    let echo = try await connection.receive()
                    #expect(echo == .text("secret"))
                }
            }
            #expect((error?.cause as? TransportError)?.code == row.error)
            #expect((error == nil) == (row.error == nil))
        }
    }
}
#endif
