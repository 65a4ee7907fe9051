#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelConformance
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

@Suite("Conformance of AsyncHTTPClientTransport over real sockets", .timeLimit(.minutes(5)))
struct ConformanceTests {
    static let features: HTTPTransportFeatures = [
        .streamingUpload, .rawContentCoding, .connectionInfo, .trailers, .pinning,
        .clientCertificates, .exchangeEvents,
    ]

    private var subject: HTTPTransportSubject {
        HTTPTransportSubject(FaultServerOrigins()) { access in
            let transport = try Self.transport(access)
            #expect(transport.features == Self.features)
            return PinnedTransport(upstream: transport, pins: access.pins)
        }
    }

    @Test("Each promise is kept", arguments: HTTPTransportCheck.applicable(to: features))
    func promises(_ check: HTTPTransportCheck) async throws { try await check.run(on: subject) }

    @Test("Each fault has its expected outcome", arguments: HTTPFaultCheck.applicable(to: features))
    func faults(_ check: HTTPFaultCheck) async throws { try await check.run(on: subject) }

    private static func transport(
        _ access: HTTPTestAccess
    ) throws(TransportError) -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        if let authority = access.authorityPEM {
            configuration.security.trustRoots = try .pem(authority.utf8)
        }
        if let chain = access.clientCertificatePEM, let key = access.clientPrivateKeyPEM {
            configuration.security.identity = try AsyncHTTPClientTransport.Identity(
                chainPEM: chain.utf8,
                keyPEM: key.utf8
            )
        }
        if let limit = access.connectTimeout { configuration.connectTimeout = limit }
        return AsyncHTTPClientTransport(configuration)
    }
}

/// Adds the origin's pins to every call, like a client with pins.
private struct PinnedTransport: HTTPTransport {
    let upstream: AsyncHTTPClientTransport
    let pins: [[UInt8]]

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !pins.isEmpty else { return try await upstream.send(call) }
        let allowed = Set(pins.compactMap { PublicKeyPins.Pin(digest: $0) })
        var pinned = call
        pinned.options.pins = PublicKeyPins(["localhost": allowed, "127.0.0.1": allowed])
        return try await upstream.send(pinned)
    }

    func shutdown() async { await upstream.shutdown() }
}
#endif
