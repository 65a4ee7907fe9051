#if WebSocket
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import KeelWebSocket
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import KeelWebSocketNIO

@Suite("Secure connections")
struct SecureTests {
    /// A server, the requested name, and the outcome.
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

    @Test("The certificate and the host name are verified", arguments: cases)
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
            let request = HTTPRequest("wss://\(row.host):\(port)/")
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

    // MARK: Pins

    private static let trust = NIOWebSocketTransport.Trust.only(
        pem: Array(TestCertificate.certificate.utf8)
    )

    /// Returns the request that the server received, and the error of a connection with these pins.
    private func open(
        _ pins: PublicKeyPins
    ) async throws -> (request: [String], error: WebSocketError?) {
        let (requests, reporting) = AsyncStream<[String]>.makeStream()
        let transport = NIOWebSocketTransport(trust: Self.trust)
        return try await RawServer.run(tls: TestCertificate.server()) { peer in
            let request = (try? await peer.readRequest()) ?? []
            reporting.yield(request)
            try await peer.write(Array(RawServer.agreement(to: request).utf8))
            _ = try await peer.readFrame()
            try await peer.write(Frame.close().bytes)
        } while: { port in
            let error = try await failure {
                try await transport.withConnection(
                    to: secureRequest(port),
                    configuration: configuration { $0.pins = pins }
                ) { _ in }
            }
            return (await requests.first { _ in true } ?? [], error)
        }
    }

    /// Returns pins of which the first is the server's key or a key of no server.
    private func pins(
        holds: Bool,
        mode: PublicKeyPins.Mode = .enforce,
        report: @escaping @Sendable (PublicKeyPins.Mismatch) -> Void = { _ in }
    ) throws -> PublicKeyPins {
        let own = try #require(PublicKeyPins.Pin(digest: TestCertificate.keyDigest))
        let other = try #require(PublicKeyPins.Pin(digest: [UInt8](repeating: 7, count: 32)))
        return PublicKeyPins(
            ["localhost": holds ? [own, other] : [other]],
            mode: mode,
            onMismatch: report
        )
    }

    @Test("A server with a pinned key is accepted")
    func pinned() async throws {
        let (request, error) = try await open(pins(holds: true))
        #expect(error == nil)
        #expect(request.first == "GET / HTTP/1.1")
    }

    @Test("A server with another key receives no byte of the request")
    func otherKey() async throws {
        let seen = Mutex<[PublicKeyPins.Mismatch]>([])
        let pins = try pins(holds: false) { mismatch in seen.withLock { $0.append(mismatch) } }
        let (request, error) = try await open(pins)
        #expect((error?.cause as? TransportError)?.code == .tlsPinMismatch)
        #expect(error?.allowsReconnect == false)
        #expect(request.isEmpty)
        let expected = PublicKeyPins.Mismatch(host: "localhost", digest: TestCertificate.keyDigest)
        #expect(seen.withLock { $0 } == [expected])
    }

    @Test("In audit mode, a mismatch is reported once and the connection opens")
    func audit() async throws {
        let count = Counter()
        let pins = try pins(holds: false, mode: .audit) { _ in count.next() }
        let (request, error) = try await open(pins)
        #expect(error == nil)
        #expect(!request.isEmpty)
        #expect(count.count == 1)
    }

    @Test("A pinned host is not contacted without TLS")
    func plain() async throws {
        let pins = try pins(holds: true)
        // Nothing listens there: an attempt to connect would end with another error.
        let target = HTTPRequest(method: .get, scheme: "ws", authority: "localhost:9", path: "/")
        let error = try await failure {
            try await NIOWebSocketTransport().withConnection(
                to: target,
                configuration: configuration { $0.pins = pins }
            ) { _ in }
        }
        #expect((error?.cause as? TransportError)?.code == .tlsPinMismatch)
    }

    // MARK: Client certificates and secrets

    @Test(
        "A client presents its certificate to a server that asks for it",
        arguments: [true, false]
    )
    func clientCertificate(isShown: Bool) async throws {
        let identity = try NIOWebSocketTransport.Identity(
            chainPEM: TestCertificate.certificate.utf8,
            keyPEM: TestCertificate.key.utf8
        )
        let transport = NIOWebSocketTransport(trust: Self.trust, identity: isShown ? identity : nil)
        try await RawServer.run(tls: TestCertificate.server(asksClients: true)) { peer in
            try await peer.upgrade()
            _ = try await peer.readFrame()
            try await peer.write(Frame.close().bytes)
        } while: { port in
            let error = try await failure {
                try await transport.withConnection(
                    to: secureRequest(port),
                    configuration: configuration()
                ) { _ in }
            }
            #expect((error == nil) == isShown)
            if !isShown { #expect(error?.code == .transport) }
        }
    }

    @Test("An unreadable identity is rejected when it is set, and no identity reveals its key")
    func identities() throws {
        expectError(TransportError.self, .invalidConfiguration) {
            _ = try NIOWebSocketTransport.Identity(chainPEM: "x".utf8, keyPEM: "y".utf8)
        }
        let identity = try NIOWebSocketTransport.Identity(
            chainPEM: TestCertificate.certificate.utf8,
            keyPEM: TestCertificate.key.utf8
        )
        var text = "\(identity)"
        dump(identity, to: &text)
        #expect(!text.contains("PRIVATE"))
    }

    @Test("A transport reads its certificates once for all connections")
    func contextIsKept() async throws {
        let context = SecureContext(Self.trust, nil)
        let eventLoop = WebSocketOpening.eventLoops.next()
        let first = try await context.make(on: eventLoop).get()
        let second = try await context.make(on: eventLoop).get()
        #expect(first === second)
    }

    @Test("Unreadable trusted certificates fail every opening")
    func unreadableTrust() async throws {
        let transport = NIOWebSocketTransport(trust: .only(pem: Array("nonsense".utf8)))
        for _ in 0..<2 {
            let error = try await failure {
                try await transport.withConnection(
                    to: HTTPRequest("wss://localhost:9/"),
                    configuration: configuration()
                ) { _ in }
            }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test("WebSockets run on their own event loops")
    func eventLoops() {
        let shared = Set(
            MultiThreadedEventLoopGroup.singleton.makeIterator().map { ObjectIdentifier($0) }
        )
        let own = Set(WebSocketOpening.eventLoops.makeIterator().map { ObjectIdentifier($0) })
        #expect(!own.isEmpty && own.isDisjoint(with: shared))
    }
}
#endif
