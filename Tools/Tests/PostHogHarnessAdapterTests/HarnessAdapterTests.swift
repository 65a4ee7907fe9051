import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@testable import PostHogHarnessAdapter

@Suite("Adapter for PostHog's SDK test harness", .timeLimit(.minutes(20)))
struct HarnessAdapterTests {
    private static let key = "phc_test_key"

    /// The adapter in front of a double of PostHog's server, both in this process.
    private struct Bench {
        let adapter: HarnessAdapter
        let server: AnalyticsServerDouble
        let origin: any HTTPTestOrigin

        /// Calls the adapter as the harness does.
        func call(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ body: String? = nil
        ) async throws -> (status: Int, text: String) {
            let head = HTTPRequest(
                method: method,
                scheme: "http",
                authority: "127.0.0.1",
                path: path
            )
            let reply = await adapter.respond(
                to: HTTPCall(head, body: body.map { HTTPBody(Array($0.utf8)) })
            )
            let bytes = try await reply.body.collect(upTo: 1 << 20)
            return (reply.head.status.code, String(decoding: bytes, as: UTF8.self))
        }

        func open(_ members: String = "") async throws {
            let host = "\(origin.scheme)://\(origin.authority)"
            let answer = try await call(
                .post,
                "/init",
                #"{"api_key":"\#(HarnessAdapterTests.key)","host":"\#(host)"\#(members)}"#
            )
            #expect(answer.status == 200 && answer.text == #"{"success":true}"#)
        }

        func capture(_ event: String, of user: String = "ada") async throws -> String {
            let answer = try await call(
                .post,
                "/capture",
                #"{"distinct_id":"\#(user)","event":"\#(event)","properties":null}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            let captured = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
            return try #require((captured as? [String: Any])?["uuid"] as? String)
        }

        func state() async throws -> HarnessState {
            let answer = try await call(.get, "/state")
            return try JSONCoding.snakeCase.decode(HarnessState.self, from: Array(answer.text.utf8))
        }
    }

    private func withBench(
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: @Sendable (Bench) async throws -> Void
    ) async throws {
        let server = AnalyticsServerDouble.postHog(projectKey: Self.key)
        let network = InProcessHTTPNetwork()
        // On a real clock, no flush here reaches its limit, which allows for a busy machine.
        let adapter = HarnessAdapter(
            transport: network.transport(),
            flushLimit: .seconds(600),
            clock: clock
        )
        try await network.run(HTTPTestScript { await server.answer($0) }) { origin in
            try await body(Bench(adapter: adapter, server: server, origin: origin))
        }
        await adapter.reset()
    }

    @Test("Captured events arrive with a flush, and the state accounts for them")
    func flush() async throws {
        try await withBench { bench in
            try await bench.open(#","flush_interval_ms":60000"#)
            let ids = [
                try await bench.capture("first"),
                try await bench.capture("second", of: "grace"),
            ]
            let answer = try await bench.call(.post, "/flush")
            #expect(answer.text.contains(#""events_flushed":"#), "\(answer.text)")
            #expect(bench.server.events.map(\.name) == ["first", "second"])
            #expect(bench.server.events.map(\.id) == ids)
            #expect(bench.server.events.map(\.subject) == ["ada", "grace"])
            let state = try await bench.state()
            #expect(state.pendingEvents == 0 && state.totalEventsCaptured == 2)
            #expect(state.totalEventsSent == 2 && state.totalRetries == 0)
            #expect(state.lastError == nil)
            // One request or two, because the service looks for events when it starts.
            #expect(state.requestsMade.flatMap(\.uuidList) == ids)
            #expect(state.requestsMade.allSatisfy { $0.statusCode == 200 })
        }
    }

    @Test("A flush waits for retries, and the state counts the attempts")
    func retry() async throws {
        try await withBench { bench in
            bench.server.enqueue(.status(503), .lostReply)
            try await bench.open(#","flush_interval_ms":0"#)
            let id = try await bench.capture("first")
            _ = try await bench.call(.post, "/flush")
            let state = try await bench.state()
            #expect(state.requestsMade.map(\.statusCode) == [503, 0, 200])
            #expect(state.requestsMade.map(\.retryAttempt) == [0, 1, 2])
            #expect(state.requestsMade.allSatisfy { $0.uuidList == [id] })
            #expect(state.totalRetries == 2 && state.totalEventsSent == 1)
            #expect(bench.server.events.count == 1 && bench.server.duplicates == [id])
        }
    }

    @Test("A flush ends after its limit if the server does not answer")
    func limit() async throws {
        let clock = TestClock()
        try await withBench(clock: clock) { bench in
            bench.server.enqueue(.slow(.seconds(3600)), .slow(.seconds(3600)))
            try await bench.open(#","flush_interval_ms":0"#)
            _ = try await bench.capture("first")
            async let answer = bench.call(.post, "/flush")
            // The limit of the flush, and that of its first attempt.
            await clock.waitForSleepers(2)
            await clock.advance(by: .seconds(600))
            let flushed = try await answer.text
            #expect(flushed.contains(#""events_flushed":0"#), "\(flushed)")
            #expect(try await bench.call(.post, "/reset").status == 200)
        }
    }

    @Test("A single rejected event is retried before it is given up", arguments: [400, 413])
    func refusal(_ status: Int) async throws {
        try await withBench { bench in
            bench.server.enqueue(.status(status))
            try await bench.open()
            _ = try await bench.capture("first")
            _ = try await bench.call(.post, "/flush")
            let state = try await bench.state()
            #expect(state.pendingEvents == 0 && state.totalEventsSent == 1)
            #expect(state.requestsMade.map(\.statusCode) == [status, 200])
        }
    }

    @Test("A wrong key ends the flush, and nothing is retried")
    func wrongKey() async throws {
        try await withBench { bench in
            // Two attempts, because the service may have made one just before the flush.
            bench.server.enqueue(.status(401), .status(401))
            try await bench.open()
            _ = try await bench.capture("first")
            _ = try await bench.call(.post, "/flush")
            let state = try await bench.state()
            #expect(state.pendingEvents == 1 && state.lastError?.contains("key") == true)
            #expect(bench.server.requests <= 2)
        }
    }

    @Test("Properties keep their types, and an event's time is sent in UTC")
    func form() async throws {
        try await withBench { bench in
            try await bench.open(#","enable_compression":true"#)
            let answer = try await bench.call(
                .post,
                "/capture",
                #"""
                {"distinct_id":"ada","event":"e","timestamp":"2025-01-02T08:34:05+05:30",
                "properties":{"text":"2025-01-02T08:34:05+05:30","whole":42,"half":0.5,"yes":true,
                "list":[1,"a",null],"table":{"a":1}}}
                """#
            )
            #expect(answer.status == 200, "\(answer.text)")
            _ = try await bench.call(.post, "/flush")
            let json = try #require(bench.server.events.first?.json)
            for part in [
                #""timestamp":"2025-01-02T03:04:05.000Z""#,
                #""text":"2025-01-02T08:34:05+05:30""#, #""whole":42"#, #""half":0.5"#,
                #""yes":true"#, #""list":[1,"a",null]"#, #""table":{"a":1}"#,
            ] { #expect(json.contains(part), "\(json)") }
            #expect(bench.origin.requests.first?["content-encoding"] == "gzip")
        }
    }

    @Test("A reset forgets everything, and calls without a service are rejected")
    func reset() async throws {
        try await withBench { bench in
            try await bench.open(#","flush_interval_ms":60000"#)
            _ = try await bench.capture("first")
            #expect(try await bench.call(.post, "/reset").status == 200)
            #expect(try await bench.state().totalEventsCaptured == 0)
            #expect(try await bench.call(.post, "/flush").status == 400)
            let body = #"{"distinct_id":"a","event":"e"}"#
            #expect(try await bench.call(.post, "/capture", body).status == 400)
            #expect(try await bench.call(.post, "/init", "{}").status == 400)
            #expect(try await bench.call(.get, "/nowhere").status == 404)
        }
    }

    @Test("Flags are reported as unsupported, and the health names the tested capabilities")
    func capabilities() async throws {
        try await withBench { bench in
            let flag = try await bench.call(.post, "/get_feature_flag", "{}")
            #expect(flag.status == 501 && flag.text.contains("no flags"))
            let health = try await bench.call(.get, "/health")
            #expect(health.status == 200)
            #expect(health.text.contains(#""capabilities":["capture_v0","encoding_gzip"]"#))
        }
    }
}
