#if TestServer
public import KeelTestKit

/// Origins over real sockets, for the checks of KeelConformance.
///
/// ```swift
/// static let subject = HTTPTransportSubject(FaultServerOrigins()) { access in
///     try MyTransport(access)
/// }
/// ```
public struct FaultServerOrigins: HTTPTestOrigins {
    private let clock: any Clock<Duration>

    /// Creates a source of origins with a clock for delays and throttles.
    public init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
    }

    public func run<Value: Sendable>(
        _ script: HTTPTestScript,
        operation: @Sendable (any HTTPTestOrigin) async throws -> Value
    ) async throws -> Value {
        let authority = try TestAuthority()
        let identity = try self.identity(script, authority)
        var configuration = FaultServer.Configuration(clock: clock)
        configuration.protocols = script.version == .http1 ? [.http1] : [.http2]
        configuration.http2.sendsSettings = script.version != .silentHTTP2
        if script.security != .none {
            configuration.tls = FaultServer.TLS(identity)
            configuration.tls?.fault = script.handshakeFault
            if script.security == .clientCertificate {
                configuration.tls?.clientAuthority = authority
            }
        }
        let access = try self.access(script, authority, identity)
        return try await FaultServer.run(configuration, answering: script.handler) { server in
            try await operation(Origin(server: server, access: access))
        }
    }

    private func identity(
        _ script: HTTPTestScript,
        _ authority: TestAuthority
    ) throws -> TestIdentity {
        switch script.security {
        case .expired: try authority.identity(.expired)
        case .notYetValid: try authority.identity(.notYetValid)
        case .wrongHost: try authority.identity(.wrongHost)
        case .selfSigned: try authority.identity(.selfSigned)
        case .unknownAuthority: try TestAuthority().identity()
        default: try authority.identity()
        }
    }

    private func access(
        _ script: HTTPTestScript,
        _ authority: TestAuthority,
        _ identity: TestIdentity
    ) throws -> HTTPTestAccess {
        var access = HTTPTestAccess()
        if script.security != .none {
            access.authorityPEM = try authority.certificatePEM
            access.authorityDER = try authority.certificateDER
        }
        if script.security == .stallingHandshake { access.connectTimeout = .milliseconds(300) }
        if script.client != .none {
            let signer = script.client == .known ? authority : try TestAuthority()
            let client = try signer.client("Test Client")
            access.clientCertificatePEM = try client.certificatePEM
            access.clientPrivateKeyPEM = client.privateKeyPEM
        }
        switch script.pins {
        case .none: break
        case .matching: access.pins = [TestIdentity.backupPin(), identity.publicKeyPin]
        case .mismatching: access.pins = [TestIdentity.backupPin()]
        }
        return access
    }

    private struct Origin: HTTPTestOrigin {
        let server: FaultServer
        let access: HTTPTestAccess

        var scheme: String { server.scheme }
        var authority: String { server.authority }
        var requests: [HTTPTestRequest] { server.requests }

        func enqueue(_ answer: HTTPTestAnswer) { server.enqueue(answer) }

        func waitForRequests(_ count: Int, whole: Bool) async throws -> [HTTPTestRequest] {
            try await server.waitForRequests(count, whole: whole)
        }

        func waitForDisconnects(_ count: Int) async throws -> [HTTPTestDisconnect] {
            try await server.waitForDisconnects(count)
        }
    }
}

extension HTTPTestScript {
    fileprivate var handshakeFault: FaultServer.HandshakeFault? {
        switch security {
        case .plainText: .plainText
        case .garbage: .garbage
        case .stallingHandshake: .stall
        case .closingHandshake: .close
        case .resettingHandshake: .reset
        default: nil
        }
    }
}
#endif
