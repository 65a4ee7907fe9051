#if Observability
import Foundation
import HTTPTypes
import InMemoryLogging
import InMemoryTracing
import KeelCore
import KeelHTTP
import KeelHTTPObservability
import KeelTestKit
import Logging
import Metrics
import MetricsTestKit
import Testing
import Tracing

/// Sends a call twice, and returns the second reply.
struct TwiceMiddleware: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            return try await next(call)
        } catch {
            var second = call
            second.attempt += 1
            call.record(.retrying(after: .zero, reason: error.code.name))
            return try await next(second)
        }
    }
}

@Suite("Observed clients", .timeLimit(.minutes(1)))
struct HTTPObservabilityTests {
    let logs = InMemoryLogHandler()
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let clock = TestClock()

    func logger(_ level: Logger.Level = .trace) -> Logger {
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = level
        return logger
    }

    func client(
        _ transport: ScriptedHTTPTransport,
        level: Logger.Level = .info
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com:8443/v1")
        configuration.retry = .never
        configuration.clock = clock
        configuration.attemptMiddleware = [TwiceMiddleware()]
        configuration.observe(logger: logger(level), metrics: metrics, tracer: tracer)
        return NetworkClient(configuration, transport: transport)
    }

    @Test("A call writes one log entry")
    func line() async throws {
        let client = try client(ScriptedHTTPTransport([.json("{}")]))
        _ = try await client.get("/menu", as: EmptyResponse.self)
        let entry = try #require(logs.entries.first)
        #expect(logs.entries.count == 1)
        #expect(entry.level == .info)
        #expect(entry.message == "HTTP call answered")
        #expect(entry.metadata["url.full"] == "https://api.example.com:8443/v1/menu")
        #expect(entry.metadata["http.request.method"] == "GET")
        #expect(entry.metadata["http.response.status_code"] == "200")
        #expect(entry.metadata["http.response.body.size"] == "2")
        #expect(entry.metadata["error.type"] == nil)
    }

    @Test(
        "The log level reflects the outcome of a call",
        arguments: [
            (ScriptedHTTPTransport.Answer.status(.notFound), Logger.Level.info, "404", nil),
            (.status(.badGateway), .warning, "502", "502"),
            (.failure(TransportError(.tlsUntrusted)), .warning, nil, "tlsUntrusted"),
            (.failure(TransportError(.cancelled)), .debug, nil, "cancelled"),
        ] as [(ScriptedHTTPTransport.Answer, Logger.Level, String?, String?)]
    )
    func levels(
        answer: ScriptedHTTPTransport.Answer,
        level: Logger.Level,
        status: String?,
        error: String?
    ) async throws {
        let client = try client(ScriptedHTTPTransport(then: answer), level: .trace)
        _ = try? await client.get("/menu", as: EmptyResponse.self)
        let entry = try #require(logs.entries.last)
        #expect(entry.level == level)
        #expect(entry.metadata["http.response.status_code"].map { "\($0)" } == status)
        #expect(entry.metadata["error.type"].map { "\($0)" } == error)
    }

    @Test("Header fields are logged on request and redacted")
    func fields() async throws {
        let transport = ScriptedHTTPTransport([
            .status(.ok, headers: [.setCookie: "sid=s3cret", .age: "1"])
        ])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.defaultHeaders = [.authorization: "Bearer s3cret", .accept: "*/*"]
        configuration.observers = [HTTPLogging(logger(), fields: .all)]
        _ = await NetworkClient(configuration, transport: transport).response(to: Ping())
        let texts = logs.entries.map { "\($0.metadata)" }.joined()
        #expect(texts.contains("Accept: */*") && texts.contains("Age: 1"))
        #expect(texts.contains("Authorization: <redacted>"))
        #expect(!texts.contains("s3cret"))
    }

    @Test("Details show the host and redact the path")
    func details() async throws {
        let transport = ScriptedHTTPTransport([.redirect(to: "/users/ada@example.org?t=s3cret")])
        var configuration = try NetworkClient.Configuration("http://127.0.0.1:8080")
        configuration.retry = .never
        configuration.observers = [HTTPLogging(logger())]
        _ = await NetworkClient(configuration, transport: transport).response(to: Ping())
        let messages = logs.entries.map { "\($0.message)" }
        #expect(messages.contains("HTTP: sending GET http://127.0.0.1:8080/ping"))
        #expect(
            messages.contains("HTTP: redirected by 302 to http://127.0.0.1:8080/users/redacted")
        )
        #expect(!messages.joined().contains("ada@"))
    }

    @Test("Requests are measured under the names of OpenTelemetry")
    func measures() async throws {
        let client = try client(
            ScriptedHTTPTransport([.failure(TransportError(.connectionLost)), .json("{}")])
        )
        _ = try await client.get("/menu", as: EmptyResponse.self)
        let base = [
            ("http.request.method", "GET"), ("server.address", "api.example.com"),
            ("server.port", "8443"), ("url.scheme", "https"),
        ]
        let failed = try metrics.expectTimer(
            "http.client.request.duration",
            base + [("error.type", "connectionLost")]
        )
        #expect(failed.values.count == 1)
        let answered = try metrics.expectTimer(
            "http.client.request.duration",
            base + [("http.response.status_code", "200")]
        )
        #expect(answered.values.count == 1)
        let size = try metrics.expectRecorder("http.client.response.body.size", base)
        #expect(size.values == [2])
        let retries = try metrics.expectCounter(
            "keel.http.client.retries",
            [("reason", "connectionLost")]
        )
        #expect(retries.totalValue == 1)
        let active = try metrics.expectMeter("http.client.active_requests", base)
        #expect(active.lastValue == 0)
        #expect(active.values.max() == 1)
        _ = try metrics.expectTimer(
            "keel.http.client.call.duration",
            [
                ("http.request.method", "GET"), ("server.address", "api.example.com"),
                ("server.port", "8443"), ("http.response.status_code", "200"),
            ]
        )
    }

    /// Sends a second request concurrently, as hedging does.
    private struct Beside: HTTPMiddleware {
        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            let first = try await next(call)
            let second = try await next(call)
            _ = try await first.body.collect(upTo: 10)
            return second
        }
    }

    @Test("Requests of one attempt are measured separately, even if they overlap")
    func overlappingRequests() async throws {
        let transport = ScriptedHTTPTransport(
            [.chunks([[1]], status: .unauthorized)],
            then: .chunks([[1], [2]])
        )
        let log = HTTPEventLog()
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.clock = clock
        configuration.observers = [HTTPMetrics(metrics), log]
        configuration.attemptMiddleware = [Beside()]
        let client = NetworkClient(configuration, transport: transport)
        _ = try await client.get("/menu", as: EmptyResponse.self)
        let active = try #require(metrics.meters(label: "http.client.active_requests").first)
        #expect(active.values.max() == 2)
        #expect(active.lastValue == 0)
        let timers = metrics.timers(label: "http.client.request.duration")
        let statuses = timers.compactMap { timer in
            timer.dimensions.first { $0.0 == "http.response.status_code" }?.1
        }
        #expect(Set(statuses) == ["200", "401"])
        #expect(timers.map(\.values.count).reduce(0, +) == 2)
        let summary = try #require(log.summaries.first)
        #expect(summary.attempts.map(\.number) == [1, 1])
        #expect(summary.attempts.map(\.status) == [401, 200])
        #expect(summary.attempts.map(\.responseBytes) == [1, 2])
        #expect(log.events.compactMap(\.request).max() == 2)
    }

    @Test("Servers and methods do not create unbounded dimensions")
    func bounded() async throws {
        let observer = HTTPMetrics(metrics)
        for number in 0..<(HTTPMetrics.serverLimit + 5) {
            let head = HTTPRequest(
                method: try #require(HTTPRequest.Method("X\(number)")),
                scheme: "https",
                authority: "h\(number)",
                path: "/"
            )
            observer.observe(
                HTTPEvent(
                    call: HTTPCallID(UInt64(number)),
                    attempt: 1,
                    elapsed: .zero,
                    kind: .sending(head)
                )
            )
        }
        let meters = metrics.meters(label: "http.client.active_requests")
        #expect(meters.count == HTTPMetrics.serverLimit + 1)
        #expect(
            meters.allSatisfy { meter in
                meter.dimensions.contains { $0 == ("http.request.method", "_OTHER") }
            }
        )
    }

    @Test("A call is a span, and each attempt is a child span that the server is told of")
    func spans() async throws {
        let transport = ScriptedHTTPTransport([
            .failure(TransportError(.connectionLost)), .json("{}"),
        ])
        _ = try await client(transport).get("/menu", as: EmptyResponse.self)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "GET", "call GET"])
        #expect(spans.map(\.kind) == [.client, .client, .internal])
        #expect(Set(spans.map(\.traceID)).count == 1)
        #expect(spans[0].parentSpanID == spans[2].spanID)
        #expect(spans[1].parentSpanID == spans[2].spanID)
        #expect(tracer.activeSpans.isEmpty)

        #expect(spans[0].attributes.get("error.type") == "connectionLost")
        #expect(spans[0].status?.code == .error)
        #expect(spans[0].errors.count == 1)
        #expect(spans[1].attributes.get("http.request.resend_count") == 1)
        #expect(spans[1].attributes.get("http.response.status_code") == 200)
        #expect(spans[1].attributes.get("http.response.body.size") == 2)
        #expect(spans[1].attributes.get("server.address") == "api.example.com")
        #expect(spans[1].attributes.get("server.port") == 8443)
        #expect(spans[1].attributes.get("url.full") == "https://api.example.com:8443/v1/menu")
        #expect(spans[1].status == nil)

        let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        #expect(
            transport.calls.map { $0.head.headerFields[name] } == [
                spans[0].spanID, spans[1].spanID,
            ]
        )
    }

    @Test("A span lasts until the end of the body, even if it is dropped")
    func streamedSpan() async throws {
        let client = try client(ScriptedHTTPTransport([.chunks([[1], [2]])]))
        do {
            let reply = try await client.stream(Ping())
            #expect(tracer.activeSpans.count == 2)
            var iterator = reply.body.makeAsyncIterator()
            #expect(try await iterator.next() == [1])
        }
        #expect(tracer.activeSpans.isEmpty)
        #expect(tracer.finishedSpans.count == 2)
    }

    @Test("Untrusted requests receive no trace context")
    func untrusted() async throws {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let chain = transport.chain([
            HTTPTracing(.attempt, tracer: tracer) { $0.authority == "api.example.com" }
        ])
        let head = HTTPRequest(method: .get, scheme: "https", authority: "cdn.org", path: "/")
        _ = try await chain(HTTPCall(head))
        #expect(transport.calls[0].head.headerFields.isEmpty)
    }

    @Test("A transport can be observed on its own")
    func transport() async throws {
        let observed = ScriptedHTTPTransport([
            .chunks([[1, 2]]), .failure(TransportError(.connectionRefused)),
        ])
        .observed(logger: logger(.info), metrics: metrics, tracer: tracer, clock: clock)
        let head = HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/a?b=s3cret")
        let reply = try await observed.send(HTTPCall(head))
        #expect(logs.entries.isEmpty)
        _ = try await reply.body.collect(upTo: 10)
        _ = try? await observed.send(HTTPCall(head))
        #expect(logs.entries.map(\.level) == [.info, .warning])
        #expect(logs.entries.map { $0.metadata["url.full"] } == ["https://h/a", "https://h/a"])
        #expect(tracer.finishedSpans.count == 2)
        #expect(metrics.timers(label: "http.client.request.duration").count == 2)
    }
}

struct Ping: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/ping" }
}
#endif
