#if Observability
import Foundation
import HTTPTypes
import InMemoryLogging
import InMemoryTracing
import KeelHTTP
import KeelHTTPObservability
import KeelServing
import KeelServingObservability
import KeelStorage
import KeelStorageFirestore
import KeelStorageObservability
import KeelStorageSQLite
import KeelTestKit
import Logging
import MetricsTestKit
import Testing
import Tracing

@Suite("Observed servers", .timeLimit(.minutes(10)))
struct ServingObservabilityTests {
    private struct Answering: ServingHandler {
        var status = HTTPResponse.Status.ok
        var failure: TransportError?

        func respond(to call: HTTPCall) async -> HTTPReply {
            HTTPReply(
                head: HTTPResponse(status: status),
                body: .chunks([[1, 2], [3]], thenThrow: failure)
            )
        }
    }

    private let logs = InMemoryLogHandler()
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let clock = TestClock()

    private func observed(_ handler: some ServingHandler) -> some ServingHandler {
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = .debug
        return handler.observed(logger: logger, metrics: metrics, tracer: tracer, clock: clock)
    }

    private func call(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        fields: HTTPFields = [:]
    ) -> HTTPCall {
        HTTPCall(HTTPRequest("http://127.0.0.1\(path)", method, fields))
    }

    @Test(
        "Request names do not contain resource names",
        arguments: [
            ("/v1/projects/p/databases/d/documents:commit", "POST", "commit", "/v1/*:commit"),
            ("/v1/projects/p/databases/d/documents/users/ada", "GET", "GET documents", "/v1/*"),
            ("/v1/projects/p/databases/d/documents/a/ada:secret", "GET", "GET documents", "/v1/*"),
            ("/sync/all/events?cursor=ada", "GET", "GET sync/events", "/sync/*/events"),
            ("/keel/v1/schema", "POST", "POST schema", "/keel/v1/schema"),
            ("/ada", "BREW", "_OTHER other", "*"),
        ]
    )
    func names(path: String, method: String, name: String, route: String) async throws {
        let method = try #require(HTTPRequest.Method(method))
        let reply = await observed(Answering()).respond(to: call(path, method))
        _ = try await reply.body.collect(upTo: 100)
        let entry = try #require(logs.entries.last)
        #expect(entry.level == .info)
        #expect(entry.metadata["http.operation"] == "\(name)")
        #expect(entry.metadata["http.response.body.size"] == "3")
        #expect(!"\(entry.metadata)".contains("ada"))
        let span = try #require(tracer.finishedSpans.last)
        #expect(span.kind == .server)
        #expect(span.attributes.get("http.route") == .string(route))
        #expect(!span.operationName.contains("ada"))
    }

    @Test("A request lasts until its response ends or is truncated")
    func ends() async throws {
        let whole = await observed(Answering()).respond(to: call("/health"))
        #expect(tracer.finishedSpans.isEmpty)
        _ = try await whole.body.collect(upTo: 100)
        #expect(logs.entries.last?.level == .debug)

        let broken = Answering(failure: TransportError(.connectionLost))
        let cut = await observed(broken).respond(to: call("/sync/all/events"))
        _ = try? await cut.body.collect(upTo: 100)
        #expect(logs.entries.last?.metadata["error.type"] == "connectionLost")

        // The client has disconnected: the server drops the rest of the reply.
        _ = await observed(Answering()).respond(to: call("/sync/all/events"))
        #expect(logs.entries.last?.metadata["error.type"] == "cut")

        let failed = await observed(Answering(status: .internalServerError))
            .respond(to: call("/v1/x"))
        _ = try await failed.body.collect(upTo: 100)
        #expect(logs.entries.last?.level == .error)
        #expect(logs.entries.last?.metadata["error.type"] == "500")
        #expect(tracer.finishedSpans.count == 4)
        #expect(metrics.timers.map(\.label).allSatisfy { $0 == "http.server.request.duration" })
    }

    @Test(
        "A request whose response has no body ends without one",
        arguments: [("OPTIONS", 204), ("GET", 304), ("HEAD", 200)]
    )
    func hasNoBody(method: String, status: Int) async throws {
        let method = try #require(HTTPRequest.Method(method))
        let handler = Answering(status: HTTPResponse.Status(code: status))
        // The server does not read the body.
        _ = await observed(handler).respond(to: call("/health", method))
        let entry = try #require(logs.entries.last)
        #expect(entry.metadata["error.type"] == nil)
        let span = try #require(tracer.finishedSpans.last)
        #expect(span.attributes.get("error.type") == nil)
    }

    @Test("One trace covers the app's call and the server's database")
    func traces() async throws {
        let file = SQLiteStorageLocation.temporary()
        let server = StorageServer(
            adapter: try SQLiteStorageAdapter(at: file).observed(label: "server", tracer: tracer)
        )
        let transport = HandlerTransport(server.observed(tracer: tracer))
        let address = try #require(URL(string: "http://127.0.0.1"))
        var configuration = FirestoreStorageAdapter.Configuration.keel(address)
        // Generous, for busy machines.
        configuration.timeout = .seconds(3600)
        let adapter = FirestoreStorageAdapter(
            configuration,
            transport: transport.observed(tracer: tracer)
        )
        let storage = StorageClient(adapter.observed(label: "app", tracer: tracer))
        try await storage.setDocument("notes/1", ["text": "Hello"])

        let spans = tracer.finishedSpans.filter {
            $0.operationName.contains("commit") || $0.kind != .internal
        }
        #expect(Set(spans.map(\.traceID)).count == 1)
        #expect(spans.contains { $0.kind == .server })
    }
}
#endif
