#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestServer
import Testing

/// The failures specific to this transport; `ConformanceTests` runs the shared `HTTPFaultCheck`.
@Suite("Failures of AsyncHTTPClientTransport")
struct FailureTests {
    @Test("A connection to a port without a listener fails at once")
    func refusedPort() async {
        var settings = AsyncHTTPClientTransport.Configuration()
        settings.connectTimeout = .seconds(300)
        let transport = AsyncHTTPClientTransport(settings)
        let clock = ContinuousClock()
        let start = clock.now
        // Nothing listens on the reserved port 1 (tcpmux); a released port might be reused.
        let error = await transport.failure(of: get("127.0.0.1:1"))
        await transport.shutdown()
        #expect(error?.code == .connectionRefused)
        #expect(error?.processed == .no)
        // AsyncHTTPClient's own retries would take the whole connect timeout.
        #expect(clock.now - start < .seconds(100))
    }

    @Test("A server that accepts but never speaks TLS causes a connect timeout")
    func silentSecurePeer() async throws {
        let silence: @Sendable (RawConnection) async -> Void = { await $0.stall() }
        let error = try await FaultServer.run(serving: silence) { server in
            var settings = AsyncHTTPClientTransport.Configuration()
            settings.connectTimeout = .milliseconds(300)
            let transport = AsyncHTTPClientTransport(settings)
            let error = await transport.failure(of: get("localhost:\(server.port)", "https"))
            await transport.shutdown()
            return error
        }
        #expect(error?.code == .connectTimeout)
    }

    @Test("A call without a host or with a wrong body length is invalid")
    func invalidRequests() async throws {
        let noHost = await failure(
            of: HTTPCall(HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/"))
        )
        #expect(noHost?.code == .invalidRequest)
        let wrongLength = HTTPBody(length: 9, isReplayable: false) {
            () async throws(TransportError) in .chunks([[1]])
        }
        let error = try await AnsweringServer.run(answering: answer(), then: .keepOpen) { port in
            var call = get("127.0.0.1:\(port)")
            call.head.method = .post
            call.body = wrongLength
            return await failure(of: call)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("After shutdown, every call is rejected, and another shutdown has no effect")
    func afterShutdown() async throws {
        let transport = AsyncHTTPClientTransport()
        await transport.shutdown()
        await transport.shutdown()
        let error = await transport.failure(of: get("127.0.0.1:1"))
        #expect(error?.code == .clientShutdown)
        #expect(error?.processed == .no)
    }

    private func get(_ authority: String, _ scheme: String = "http") -> HTTPCall {
        HTTPCall(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
    }

    private func failure(of call: HTTPCall) async -> TransportError? {
        let transport = AsyncHTTPClientTransport()
        let error = await transport.failure(of: call)
        await transport.shutdown()
        return error
    }
}
#endif
