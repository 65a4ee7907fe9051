#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestServer
import KeelTestSupport
import Synchronization
import Testing

@Suite("AsyncHTTPClientTransport over TLS and HTTP/2")
struct SecurityTests {
    @Test(
        "An invalid certificate is rejected with the reason",
        arguments: [
            (TestAuthority.Defect.none, TransportError.Code?.none),
            (.expired, .tlsUntrusted), (.notYetValid, .tlsUntrusted),
            (.selfSigned, .tlsUntrusted), (.wrongHost, .tlsHostnameMismatch),
        ]
    )
    func certificates(flaw: TestAuthority.Defect, code: TransportError.Code?) async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity(flaw))
        let error = try await FaultServer.run(.init(tls: tls), answers: [.text("yes")]) { server in
            try await failure(of: call(server), trusting: authority)
        }
        #expect(error?.code == code)
        if code != nil {
            #expect(error?.phase == .tls)
            #expect(error?.processed == .no)
        }
    }

    @Test("A server with an unknown authority is not trusted")
    func unknownAuthority() async throws {
        let tls = FaultServer.TLS(try TestAuthority().identity())
        let error = try await FaultServer.run(.init(tls: tls), answers: [.text("yes")]) { server in
            try await failure(of: call(server), trusting: TestAuthority())
        }
        #expect(error?.code == .tlsUntrusted)
    }

    @Test(
        "A failed handshake has its own error code",
        arguments: [
            (FaultServer.HandshakeFault.close, TransportError.Code.tlsHandshakeFailed),
            (.reset, .connectionLost), (.plainText, .tlsHandshakeFailed),
            (.garbage, .tlsHandshakeFailed), (.stall, .connectTimeout),
        ]
    )
    func handshakes(fault: FaultServer.HandshakeFault, code: TransportError.Code) async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity()).failing(with: fault)
        let error = try await FaultServer.run(.init(tls: tls)) { server in
            try await failure(of: call(server), trusting: authority) {
                if fault == .stall { $0.connectTimeout = .milliseconds(500) }
            }
        }
        #expect(error?.code == code)
        #expect(error?.processed == .no)
    }

    @Test("A client presents its certificate", arguments: [FaultServer.TLSVersion.tls12, .tls13])
    func clientCertificate(_ version: FaultServer.TLSVersion) async throws {
        let authority = try TestAuthority()
        let ada = try authority.client("Ada")
        var tls = FaultServer.TLS(try authority.identity()).requiringClients(of: authority)
        tls.maximumVersion = version
        let (seen, without, wrong) = try await FaultServer.run(
            .init(tls: tls, protocols: [.http1]),
            fallback: .text("yes")
        ) { server in
            let identity = try AsyncHTTPClientTransport.Identity(
                chainPEM: try ada.certificatePEM.utf8,
                keyPEM: ada.privateKeyPEM.utf8
            )
            let stranger = try TestAuthority(name: "Other").client("Eve")
            let strange = try AsyncHTTPClientTransport.Identity(
                chainPEM: try stranger.certificatePEM.utf8,
                keyPEM: stranger.privateKeyPEM.utf8
            )
            let error = try await failure(of: call(server), trusting: authority) {
                $0.security.identity = identity
            }
            #expect(error == nil)
            let without = try await failure(of: call(server), trusting: authority)
            let wrong = try await failure(of: call(server), trusting: authority) {
                $0.security.identity = strange
            }
            return (server.requests.first?.security?.clientCertificate, without, wrong)
        }
        #expect(try seen == ada.certificateDER)
        #expect(wrong?.code == .tlsClientCertificate)
        // TLS 1.2 has one alert for a missing certificate and other failures (RFC 5246, 7.2.2).
        #expect(without?.code == (version == .tls12 ? .tlsHandshakeFailed : .tlsClientCertificate))
    }

    /// AsyncHTTPClient drops an alert that arrives while it waits for the settings of HTTP/2.
    @Test("Over HTTP/2, a rejected client certificate is a connection lost while connecting")
    func clientCertificateOverHTTP2() async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity()).requiringClients(of: authority)
        let error = try await FaultServer.run(.init(tls: tls)) { server in
            try await failure(of: call(server), trusting: authority)
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.phase == .connect)
        #expect(error?.processed == .no)
    }

    @Test("Unreadable certificates and keys are rejected when they are set")
    func unreadable() throws {
        #expect(throws: TransportError.self) {
            _ = try AsyncHTTPClientTransport.TrustRoots.pem("nonsense".utf8)
        }
        let ada = try TestAuthority().client("Ada")
        do throws(TransportError) {
            _ = try AsyncHTTPClientTransport.Identity(
                chainPEM: Array("x".utf8),
                keyPEM: Array("y".utf8)
            )
            Issue.record("Nonsense was taken.")
        } catch {
            #expect(error.code == .invalidConfiguration)
        }
        let identity = try AsyncHTTPClientTransport.Identity(
            chainPEM: try ada.certificatePEM.utf8,
            keyPEM: ada.privateKeyPEM.utf8
        )
        var text = "\(identity)"
        dump(identity, to: &text)
        #expect(!text.contains("PRIVATE"))
    }

    // MARK: Pins

    @Test("A pinned key is accepted in addition to a backup pin")
    func pinHolds() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity()
        let pins = try #require(pinning(identity.publicKeyPin, TestIdentity.backupPin()))
        let error = try await FaultServer.run(
            .init(tls: .init(identity)),
            answers: [.text("yes")]
        ) { server in
            var call = call(server)
            call.options.pins = pins
            return try await failure(of: call, trusting: authority)
        }
        #expect(error == nil)
    }

    @Test(
        "A server with an unpinned key receives no byte of the request",
        arguments: [FaultServer.Version.http1, .http2]
    )
    func pinMismatch(_ version: FaultServer.Version) async throws {
        let authority = try TestAuthority()
        let reports = Mutex<[PublicKeyPins.Mismatch]>([])
        var pins = try #require(pinning(TestIdentity.backupPin()))
        pins.onMismatch = { mismatch in reports.withLock { $0.append(mismatch) } }
        let enforced = pins
        let identity = try authority.identity()
        let (error, requests) = try await FaultServer.run(
            .init(tls: .init(identity), protocols: [version]),
            answers: [.text("yes")]
        ) { server in
            var call = call(server)
            call.options.pins = enforced
            let error = try await failure(of: call, trusting: authority)
            return (error, server.requests)
        }
        #expect(error?.code == .tlsPinMismatch)
        #expect(error?.processed == .no)
        #expect(requests.isEmpty)
        #expect(reports.withLock { $0 }.map(\.host) == ["localhost"])
        #expect(reports.withLock { $0 }.map(\.digest) == [identity.publicKeyPin])
    }

    @Test("In audit mode, a mismatch is reported and the call continues")
    func audit() async throws {
        let authority = try TestAuthority()
        let count = Mutex(0)
        var pins = try #require(pinning(TestIdentity.backupPin()))
        pins.mode = .audit
        pins.onMismatch = { _ in count.withLock { $0 += 1 } }
        let audited = pins
        let error = try await FaultServer.run(
            .init(tls: .init(try authority.identity())),
            answers: [.text("yes")]
        ) { server in
            var call = call(server)
            call.options.pins = audited
            return try await failure(of: call, trusting: authority)
        }
        #expect(error == nil)
        #expect(count.withLock { $0 } == 1)
    }

    @Test("Plain text to a pinned host is a mismatch")
    func plainText() async throws {
        let pins = try #require(pinning(TestIdentity.backupPin(), host: "127.0.0.1"))
        let error = try await FaultServer.run(answers: [.text("yes")]) { server in
            var call = call(server)
            call.options.pins = pins
            return try await failure(of: call, trusting: TestAuthority())
        }
        #expect(error?.code == .tlsPinMismatch)
    }

    @Test("The client's pins also protect calls built by hand and their token")
    func rawCalls() async throws {
        let authority = try TestAuthority()
        let pins = try #require(pinning(TestIdentity.backupPin()))
        let requests = try await FaultServer.run(
            .init(tls: .init(try authority.identity())),
            fallback: .text("yes")
        ) { server in
            try await withTransport(trusting: authority) { transport in
                var configuration = try NetworkClient.Configuration(
                    "\(server.scheme)://\(server.authority)"
                )
                configuration.pins = pins
                configuration.authorize(with: StaticToken("SECRET"))
                let client = NetworkClient(configuration, transport: transport)
                await expectError(TransportError.self, .tlsPinMismatch) {
                    try await client.send(call(server))
                }
            }
            return server.requests
        }
        #expect(requests.isEmpty)
    }

    private func pinning(_ digests: [UInt8]..., host: String = "localhost") -> PublicKeyPins? {
        let pins = Set(digests.compactMap { PublicKeyPins.Pin(digest: $0) })
        return pins.count == digests.count ? PublicKeyPins([host: pins]) : nil
    }

    // MARK: HTTP/2

    @Test("HTTP/2 is used if the server offers it, and its connection is shared")
    func http2() async throws {
        let authority = try TestAuthority()
        let connections = try await FaultServer.run(
            .init(tls: .init(try authority.identity())),
            fallback: .text("yes")
        ) { server in
            try await withTransport(trusting: authority) { transport in
                var connections: [ConnectionInfo?] = []
                for _ in 0..<2 {
                    let reply = try await transport.send(call(server))
                    _ = try await reply.body.collect(upTo: 1 << 20)
                    connections.append(reply.connection)
                }
                return connections
            }
        }
        #expect(connections.map { $0?.version } == ["HTTP/2", "HTTP/2"])
        #expect(connections.map { $0?.isReused } == [false, true])
    }

    @Test("A refused stream was not processed; a reset one may have been")
    func streams() async throws {
        let authority = try TestAuthority()
        for (code, expected, processed) in [
            (UInt32(7), TransportError.Code.streamRefused, TransportError.Processed.no),
            (2, .streamReset, .maybe),
        ] {
            let answer = FaultServer.Answer.text("no").interrupted(
                .beforeHead,
                by: .resetStream(code: code)
            )
            let error = try await FaultServer.run(
                .init(tls: .init(try authority.identity())),
                answers: [answer]
            ) { server in
                try await failure(of: call(server), trusting: authority)
            }
            #expect(error?.code == expected)
            #expect(error?.processed == processed)
        }
    }

    // MARK: -

    private func call(_ server: FaultServer) -> HTTPCall {
        HTTPCall(HTTPRequest("\(server.scheme)://\(server.authority)/"))
    }

    private func withTransport<Value: Sendable>(
        trusting authority: TestAuthority,
        _ adjust: (inout AsyncHTTPClientTransport.Configuration) -> Void = { _ in },
        _ work: (AsyncHTTPClientTransport) async throws -> Value
    ) async throws -> Value {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.security.trustRoots = try .pem(try authority.certificatePEM.utf8)
        adjust(&configuration)
        return try await AsyncHTTPClientTransport(configuration).run(work)
    }

    private func failure(
        of call: HTTPCall,
        trusting authority: TestAuthority,
        _ adjust: (inout AsyncHTTPClientTransport.Configuration) -> Void = { _ in }
    ) async throws -> TransportError? {
        try await withTransport(trusting: authority, adjust) { await $0.failure(of: call) }
    }
}
#endif
