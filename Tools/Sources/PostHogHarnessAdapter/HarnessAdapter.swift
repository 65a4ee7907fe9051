import HTTPTypes
import KeelHTTP
import KeelServing

/// Answers PostHog's SDK test harness with an `AnalyticsService`.
///
/// The harness acts as an app: it requests a service, tracks events, and checks what reaches its own server. The
/// contract is `CONTRACT.yaml` and `ADAPTER_GUIDE.md` of PostHog/posthog-sdk-test-harness, version 1.10.
///
/// A new service replaces the last one, which then ends. A reset during a flush ends the service that the flush waits
/// for.
actor HarnessAdapter: ServingHandler {
    private static let bodyLimit = 1 << 20

    private let transport: any HTTPTransport
    private let flushLimit: Duration
    private let clock: any Clock<Duration>
    private var session: HarnessSession?

    /// Creates an adapter without a service, whose caller shuts the transport down.
    init(
        transport: any HTTPTransport,
        flushLimit: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.transport = transport
        self.flushLimit = flushLimit
        self.clock = clock
    }

    func respond(to call: HTTPCall) async -> HTTPReply {
        do throws(HarnessFailure) {
            return try await answer(call)
        } catch {
            return Self.json(HarnessRefusal(error: error.message), error.status)
        }
    }

    /// Ends the service and deletes its records.
    func reset() async {
        let ending = session
        session = nil
        await ending?.close()
    }

    // MARK: Routes

    private func answer(_ call: HTTPCall) async throws(HarnessFailure) -> HTTPReply {
        let path = (call.head.path ?? "/").prefix { $0 != "?" }
        switch (call.head.method, path) {
        case (.get, "/health"):
            return Self.json(HarnessHealth())
        case (.post, "/init"):
            try await begin(Self.decode(HarnessInit.self, from: call))
            return Self.json(HarnessSuccess())
        case (.post, "/capture"):
            let event = try await Self.decode(HarnessCapture.self, from: call)
            return Self.json(HarnessCaptured(uuid: try opened.capture(event)))
        case (.post, "/flush"):
            return Self.json(HarnessFlushed(eventsFlushed: await (try opened).flush(flushLimit)))
        case (.get, "/state"):
            return Self.json(session?.state ?? HarnessState())
        case (.post, "/reset"):
            await reset()
            return Self.json(HarnessSuccess())
        case (.post, "/get_feature_flag"):
            throw HarnessFailure(.notImplemented, "Keel sends events; it evaluates no flags.")
        default:
            throw HarnessFailure(.notFound, "The contract has no such route.")
        }
    }

    private func begin(_ request: HarnessInit) async throws(HarnessFailure) {
        let ending = session
        session = try HarnessSession(request, transport: transport, clock: clock)
        await ending?.close()
    }

    private var opened: HarnessSession {
        get throws(HarnessFailure) {
            guard let session else {
                throw HarnessFailure(.badRequest, "There is no service: call /init first.")
            }
            return session
        }
    }

    // MARK: Bodies

    private static func decode<Value: Decodable>(
        _ type: Value.Type,
        from call: HTTPCall
    ) async throws(HarnessFailure) -> Value {
        let bytes: [UInt8]
        do throws(TransportError) {
            bytes = try await call.body?.open().collect(upTo: bodyLimit) ?? []
        } catch {
            throw HarnessFailure(.badRequest, "The body cannot be read: \(error.message)")
        }
        do {
            return try JSONCoding.snakeCase.decode(type, from: bytes)
        } catch {
            throw HarnessFailure(.badRequest, "The body is not what the contract says.")
        }
    }

    private static func json(
        _ value: some Encodable,
        _ status: HTTPResponse.Status = .ok
    ) -> HTTPReply {
        guard let bytes = try? JSONCoding.snakeCase.encode(value) else {
            return .text(.internalServerError, "The answer has no JSON form.\n")
        }
        return .bytes(status, type: "application/json", bytes)
    }
}

struct HarnessFailure: Error {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }
}
