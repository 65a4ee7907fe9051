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
import MetricsTestKit
import Testing
import Tracing

private struct SignIn: Endpoint {
    struct Credentials: Codable, Sendable {
        var user = "ada"
        var password = "planted-body"
    }

    typealias Response = Session
    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/session" }
    var query: HTTPQuery { ["access_token": "planted-query", "page": "2"] }
    var headers: HTTPFields { [.cookie: "sid=planted-cookie"] }
    var body: RequestBody? { .json(Credentials()) }
}

private struct Session: Codable, Sendable {
    var token: String
    var number: Int
}

private struct GetSession: Endpoint {
    typealias Response = Session
    var path: EndpointPath { "/session" }
    var query: HTTPQuery { ["token": "planted-query"] }
}

/// Records calls and replies, to inspect how they describe themselves.
private struct Keeping: HTTPMiddleware {
    let keep: @Sendable (Any) -> Void

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        keep(call)
        if let body = call.body { keep(body) }
        let reply = try await next(call)
        keep(reply)
        return reply
    }
}

private final class Texts: Sendable {
    private let lock = NSLock()
    nonisolated(unsafe) private var texts: [String] = []

    /// Adds all descriptions of a value.
    func add(_ value: Any) {
        var dumped = ""
        dump(value, to: &dumped, maxDepth: 12)
        let all = ["\(value)", String(reflecting: value), dumped]
        lock.withLock { texts += all }
    }

    var all: [String] { lock.withLock { texts } }
}

@Suite("Planted secrets", .timeLimit(.minutes(1)))
struct PlantedSecretsTests {
    @Test("No description, dump, log, metric, span, archive, command or error shows a secret")
    func nowhere() async throws {
        let texts = Texts()
        let logs = InMemoryLogHandler()
        let metrics = TestMetrics()
        let tracer = InMemoryTracer()
        let events = HTTPEventLog()
        let secretFields: HTTPFields = [
            .setCookie: "sid=planted-setcookie", .authorization: "Bearer planted-reply",
        ]
        let recording = ScriptedHTTPTransport(
            [
                .json(#"{"token":"planted-token","number":1}"#, headers: secretFields),
                .redirect(to: "/other?token=planted-location"),
                .json(
                    #"{"secret":"planted-refusal"}"#,
                    status: .unauthorized,
                    headers: secretFields
                ),
                .json(#"{"token":"planted-undecodable","number":"one"}"#),
                .json(#"{"token":"planted-unreadable"#),
                .failure(TransportError(.connectionLost)),
                .chunks([Array("planted-stream".utf8)], thenThrow: TransportError(.truncatedBody)),
                .json("{}", status: .serviceUnavailable, headers: secretFields),
            ]
        ).recording()

        var configuration = try NetworkClient.Configuration("https://api.example.com/v1")
        configuration.retry = .never
        let key = try #require(HTTPField.Name("X-Api-Key"))
        configuration.defaultHeaders = [
            .authorization: "Bearer planted-header", key: "planted-key",
        ]
        var logger = Logger(label: "test") { _ in logs }
        logger.logLevel = .trace
        configuration.observe(logger: logger, metrics: metrics, tracer: tracer)
        configuration.observers.append(HTTPLogging(logger, fields: .all))
        configuration.observers.append(events)
        configuration.middleware.append(Keeping { texts.add($0) })
        configuration.attemptMiddleware.append(Keeping { texts.add($0) })
        configuration.attemptMiddleware.append(
            Keeping { value in
                guard let call = value as? HTTPCall else { return }
                texts.add(CURLCommand(call).text(.singleLine))
                texts.add(CURLCommand(call).text(.multiline))
            }
        )
        let client = NetworkClient(configuration, transport: recording)
        texts.add(client)
        texts.add(configuration)

        #expect(try await client.request(SignIn()).token == "planted-token")
        for _ in 0..<5 {
            do throws(NetworkError) {
                _ = try await client.request(GetSession())
                Issue.record("The call was answered.")
            } catch {
                texts.add(error)
                texts.add(error.localizedDescription)
                texts.add(error.recoverySuggestion ?? "")
                if let response = error.response { texts.add(response) }
                if let transportError = error.transportError { texts.add(transportError) }
            }
        }
        let result = await client.response(to: GetSession())
        texts.add(result)

        // Without events to inspect, the test would prove nothing.
        #expect(events.events.count > 30)
        for event in events.events { texts.add(event) }
        for summary in events.summaries { texts.add(summary) }
        #expect(events.summaries.count == 7)
        #expect(logs.entries.count > 30)
        for entry in logs.entries { texts.add(entry) }
        #expect(!tracer.finishedSpans.isEmpty)
        for span in tracer.finishedSpans {
            texts.add(span.operationName)
            // swift-format-ignore: ReplaceForEachWithForLoop
            span.attributes.forEach { name, value in texts.add("\(name)=\(value)") }
            for error in span.errors { texts.add(error.error) }
            for event in span.events { texts.add(event) }
            texts.add(span.status as Any)
        }
        #expect(!metrics.timers.isEmpty)
        for timer in metrics.timers { texts.add("\(timer.label) \(timer.dimensions)") }
        for counter in metrics.counters { texts.add("\(counter.label) \(counter.dimensions)") }
        for meter in metrics.meters { texts.add("\(meter.label) \(meter.dimensions)") }
        for recorder in metrics.recorders { texts.add("\(recorder.label) \(recorder.dimensions)") }
        let archive = String(decoding: try recording.archive.data(), as: UTF8.self)
        #expect(recording.archive.log.entries.count == 8)
        #expect(archive.contains("<redacted>") && archive.contains("page=2"))
        texts.add(archive)
        texts.add(recording.archive)
        let replaying = ReplayingHTTPTransport(recording.archive)
        do throws(TransportError) {
            let head = HTTPRequest(
                "https://planted-user:planted-password@api.example.com/none?token=planted-unmatched"
            )
            texts.add(HTTPCall(head))
            _ = try await replaying.send(HTTPCall(head))
        } catch {
            texts.add(error)
        }

        let leaks = texts.all.filter { $0.contains("planted") }
        #expect(texts.all.count > 500)
        let places = leaks.prefix(5).compactMap { text in
            text.firstRange(of: "planted").map { text[..<$0.upperBound].suffix(200) }
        }
        #expect(leaks.isEmpty, "\(places)")
    }
}
#endif
