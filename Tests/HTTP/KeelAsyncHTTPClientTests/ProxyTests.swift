#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

@Suite("Proxies with AsyncHTTPClientTransport", .timeLimit(.minutes(1)))
struct ProxyTests {
    private typealias Proxy = AsyncHTTPClientTransport.Proxy

    enum Kind: String, CaseIterable, Sendable { case http, socks }

    private static let ada = TestProxy.Credentials(name: "ada", password: "s3cret")

    @Test("A plain request passes through the proxy", arguments: Kind.allCases)
    func passes(_ kind: Kind) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            try await TestProxy.run { proxy in
                let text = try await ask(server, through: Self.proxy(kind, proxy.port))
                #expect(text == "Hello")
                #expect(server.requests.map(\.target) == ["/through?it=1"])
                #expect(server.requests.first?["host"] == server.authority)
                #expect(server.requests.first?["proxy-authorization"] == nil)
                let way = kind == .http ? "CONNECT" : "SOCKS"
                #expect(proxy.requests.map(\.method) == [way])
                #expect(proxy.requests.map(\.target) == [server.authority])
            }
        }
    }

    @Test("TLS ends at the server, not at the proxy", arguments: Kind.allCases)
    func passesSecurely(_ kind: Kind) async throws {
        let authority = try TestAuthority()
        let tls = FaultServer.TLS(try authority.identity())
        try await FaultServer.run(.init(tls: tls), answers: [.text("Hello")]) { server in
            try await TestProxy.run(.init(target: server.port)) { proxy in
                var configuration = AsyncHTTPClientTransport.Configuration()
                configuration.proxy = Self.proxy(kind, proxy.port)
                configuration.security.trustRoots = try .pem(try authority.certificatePEM.utf8)
                let text = try await ask(server, configuration)
                #expect(text == "Hello")
                #expect(server.requests.first?.security != nil)
                #expect(proxy.requests.map(\.target) == [server.authority])
            }
        }
    }

    @Test("The right password opens the proxy; otherwise the error says so")
    func passwords() async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            try await TestProxy.run(.init(credentials: Self.ada)) { proxy in
                let right = Proxy.http(
                    host: "127.0.0.1",
                    port: proxy.port,
                    user: Self.ada.name,
                    password: Self.ada.password
                )
                let text = try await ask(server, through: right)
                #expect(text == "Hello")
                let wrong = Proxy.http(
                    host: "127.0.0.1",
                    port: proxy.port,
                    user: Self.ada.name,
                    password: "wrong"
                )
                for refused in [wrong, .http(host: "127.0.0.1", port: proxy.port)] {
                    let error = await failure(server, through: refused)
                    #expect(error?.code == .proxyUnauthorized)
                    #expect(error?.processed == .no)
                    #expect(error?.description.contains("wrong") == false)
                }
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test(
        "A proxy fault is reported as one, and the server receives no request",
        arguments: Kind.allCases,
        TestProxy.Fault.allCases
    )
    func faults(_ kind: Kind, _ fault: TestProxy.Fault) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            try await TestProxy.run(.init(fault: fault)) { proxy in
                let error = await failure(
                    server,
                    through: Self.proxy(kind, proxy.port),
                    // Only a stalling proxy must be waited out; the others need not be fast.
                    within: fault == .stall ? .seconds(2) : .seconds(30)
                )
                let codes: [TransportError.Code] =
                    fault == .stall ? [.connectTimeout, .proxyFailed] : [.proxyFailed]
                #expect(codes.contains(error?.code ?? .unknown), "\(error.map { "\($0)" } ?? "-")")
                #expect(error?.processed == .no)
                // A client that gives a stalling proxy up may do so before the proxy has read its request. Over SOCKS,
                // the request follows only the proxy's first answer, and may then never be sent.
                if kind == .http || fault != .stall {
                    try await waitUntil { !proxy.requests.isEmpty }
                }
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("An unreachable proxy is a connection failure", arguments: Kind.allCases)
    func noProxy(_ kind: Kind) async throws {
        try await FaultServer.run(answers: [.text("Hello")]) { server in
            // Nothing listens on the reserved port 1 (tcpmux).
            let error = await failure(server, through: Self.proxy(kind, 1))
            #expect(error?.code == .connectionRefused)
            #expect(error?.processed == .no)
        }
    }

    // MARK: Requests

    private static func proxy(_ kind: Kind, _ port: Int) -> Proxy {
        switch kind {
        case .http: .http(host: "127.0.0.1", port: port)
        case .socks: .socks(host: "127.0.0.1", port: port)
        }
    }

    private func ask(
        _ server: FaultServer,
        through proxy: Proxy,
        within connectTimeout: Duration = .seconds(30)
    ) async throws -> String {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.proxy = proxy
        configuration.connectTimeout = connectTimeout
        return try await ask(server, configuration)
    }

    private func ask(
        _ server: FaultServer,
        _ configuration: AsyncHTTPClientTransport.Configuration
    ) async throws -> String {
        let transport = AsyncHTTPClientTransport(configuration)
        let call = HTTPCall(HTTPRequest("\(server.scheme)://\(server.authority)/through?it=1"))
        let result: Result<[UInt8], any Error>
        do {
            result = .success(try await transport.send(call).body.collect(upTo: 1 << 20))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        return String(decoding: try result.get(), as: UTF8.self)
    }

    private func failure(
        _ server: FaultServer,
        through proxy: Proxy,
        within connectTimeout: Duration = .seconds(30)
    ) async -> TransportError? {
        do {
            _ = try await ask(server, through: proxy, within: connectTimeout)
            return nil
        } catch { return error as? TransportError }
    }
}
#endif
