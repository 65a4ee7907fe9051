import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Analytics ingestion")
struct AnalyticsIngestTests {
    private let served = Served { $0.ingest = Ingest() }

    private func send(_ records: [String], version: Int = 1) async throws -> Served.Answer {
        let body = #"{"version":\#(version),"records":[\#(records.joined(separator: ","))]}"#
        return try await served.send(.post, path: "/v1/analytics/batch", Array(body.utf8))
    }

    private func record(_ id: String, _ more: String = #""kind":"event","name":"tap""#) -> String {
        #"{"id":"\#(id)","time":1795341600123,"anonymousId":"someone",\#(more)}"#
    }

    @Test("Records become documents, and milliseconds become timestamps")
    func keeps() async throws {
        let session = #""session":{"id":"s","start":1795341000000}"#
        let answer = try await send([
            record(
                "1",
                #""kind":"screen","name":"home","properties":{"n":1,"deep":{"a":[true]}},\#(session)"#
            )
        ])
        #expect(answer.status == 200)
        #expect(answer.json["accepted"] == ["1"])
        let stored = try #require(
            try await StorageClient(served.adapter).findDocument("analytics/1")
        )
        #expect(stored["name"] == .string("home"))
        #expect(stored["time"] == .timestamp(Timestamp(microseconds: 1_795_341_600_123_000)))
        #expect(
            stored["session.start"] == .timestamp(Timestamp(microseconds: 1_795_341_000_000_000))
        )
        #expect(stored["properties.deep.a"] == .array([.boolean(true)]))
        guard case .timestamp? = stored["receivedAt"]
        else { return fail("the time of its arrival is missing") }
    }

    @Test("Repeated records are reported as duplicates and change nothing")
    func repeats() async throws {
        _ = try await send([record("1"), record("2")])
        let again = try await send([record("2", #""kind":"event","name":"other""#), record("3")])
        #expect(again.json["accepted"] == ["3"])
        #expect(again.json["duplicates"] == ["2"])
        let stored = try await StorageClient(served.adapter).findDocument("analytics/2")
        #expect(stored?["name"] == .string("tap"))
    }

    @Test("An id that a request repeats is in one list of the answer")
    func repeatsWithin() async throws {
        let invalid = record("2", #""kind":"other""#)
        let answer = try await send([record("1"), record("1"), invalid, record("2")])
        #expect(answer.json["accepted"] == ["1"])
        #expect(answer.json["duplicates"] == [])
        #expect(answer.json["rejected"]?.elements?.compactMap { $0["id"]?.text } == ["2"])
    }

    @Test("An invalid record is rejected by id, and the others are kept")
    func poison() async throws {
        let bad = [
            record("kind", #""kind":"other""#), record("name", #""kind":"event""#),
            record("user", #""kind":"identify""#), record("a/b"),
            #"{"id":"time","kind":"event","name":"x","anonymousId":"a"}"#,
            #"{"id":"who","kind":"event","name":"x","time":1}"#,
            record("large", #""kind":"event","name":"\#(String(repeating: "x", count: 70_000))""#),
        ]
        let answer = try await send([record("first")] + bad + [record("last")])
        #expect(answer.json["accepted"] == ["first", "last"])
        let rejected = answer.json["rejected"]?.elements ?? []
        let ids = Set(rejected.compactMap { $0["id"]?.text })
        #expect(ids == ["kind", "name", "user", "a/b", "time", "who", "large"])
        #expect(rejected.allSatisfy { $0["reason"] == "invalid" })
    }

    @Test("Batches with another version, missing ids or too many records are rejected")
    func refused() async throws {
        #expect(try await send([record("1")], version: 2).status == 400)
        #expect(try await send([#"{"kind":"event"}"#]).status == 400)
        #expect(try await send((0...1000).map { record("\($0)") }).status == 413)
        let none = Served()
        let body = Array(#"{"version":1,"records":[]}"#.utf8)
        #expect(try await none.send(.post, path: "/v1/analytics/batch", body).status == 404)
        let get = try await served.send(.get, path: "/v1/analytics/batch")
        #expect(get.status == 405)
    }

    @Test("A store failure asks the sender to retry")
    func unavailable() async throws {
        let away = UnavailableStorageAdapter(StorageError(.unavailable, "away"))
        let served = Served(away) { $0.ingest = Ingest() }
        let body = #"{"version":1,"records":[\#(record("1"))]}"#
        let answer = try await served.send(.post, path: "/v1/analytics/batch", Array(body.utf8))
        #expect(answer.status == 503)
        #expect(answer.head.headerFields[.retryAfter] != nil)
    }

    @Test(
        "A sender keeps its records while the store fails, whatever the reason",
        arguments: StorageError.Code.known
    )
    func outages(code: StorageError.Code) async throws {
        let failing = UnavailableStorageAdapter(StorageError(code, "the store fails"))
        let served = Served(failing) { $0.ingest = Ingest() }
        let bodies = [
            "/v1/analytics/batch": #"{"version":1,"records":[\#(record("1"))]}"#,
            "/v1/logs": #"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}"#,
        ]
        for (path, body) in bodies {
            let status = try await served.send(.post, path: path, Array(body.utf8)).status
            // A sender divides what is too large.
            let isKept = status >= 500 || status == 429 || status == 413 && code == .tooLarge
            #expect(isKept, "status \(status) at \(path)")
        }
    }
}
