import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Reads of the past over the protocol")
struct PointInTimeTests {
    private let served = Served(InMemoryStorageAdapter(history: .seconds(3600)))

    /// Stores a number and returns the time of its commit.
    private func set(_ path: String, n: Int) async throws -> String {
        try #require(try await served.set(path, n: n).json["updateTime"]?.text)
    }

    private func number(_ answer: Served.Answer) -> String? {
        answer.json["fields"]?["n"]?["integerValue"]?.text
    }

    private func names(_ answer: Served.Answer) -> [String] {
        (answer.json.elements ?? []).compactMap { $0["document"]?["name"]?.text }
    }

    private func query(_ time: String? = nil, _ more: String = "") -> String {
        let past = time.map { #","readTime":"\#($0)""# } ?? ""
        return #"{"structuredQuery":{"from":[{"collectionId":"a"}]}\#(past)\#(more)}"#
    }

    @Test("get, list and batchGet read the past")
    func documents() async throws {
        let time = try await set("a/1", n: 1)
        _ = try await set("a/1", n: 2)
        _ = try await set("a/2", n: 3)
        let past = time.replacing(":", with: "%3A")
        #expect(number(try await served.send(.get, "/a/1?readTime=\(past)")) == "1")
        #expect(try await served.send(.get, "/a/2?readTime=\(past)").status == 404)
        let list = try await served.send(.get, "/a?readTime=\(past)")
        #expect(list.json["documents"]?.elements?.count == 1)
        let names = #""\#(Served.name("a/1"))","\#(Served.name("a/2"))""#
        let body = #"{"documents":[\#(names)],"readTime":"\#(time)"}"#
        let batch = try await served.send(.post, ":batchGet", body)
        #expect(batch.json.elements?.map { $0["found"] != nil } == [true, false])
        #expect(batch.json.elements?.map { $0["readTime"]?.text } == [time, time])
    }

    @Test("Queries and aggregations repeat their results at the returned read time")
    func queries() async throws {
        _ = try await set("a/1", n: 1)
        let first = try await served.send(.post, ":runQuery", query())
        let time = try #require(first.json.elements?.first?["readTime"]?.text)
        _ = try await set("a/2", n: 2)
        _ = try await served.send(.delete, "/a/1")
        let again = try await served.send(.post, ":runQuery", query(time))
        #expect(again.bytes == first.bytes)
        #expect(names(try await served.send(.post, ":runQuery", query())).count == 1)
        let sum = #"{"sum":{"field":{"fieldPath":"n"}},"alias":"s"}"#
        let body = #"""
            {"structuredAggregationQuery":{"aggregations":[\#(sum)],
            "structuredQuery":{"from":[{"collectionId":"a"}]}},"readTime":"\#(time)"}
            """#
        let value = try await served.send(.post, ":runAggregationQuery", body)
        let fields = value.json.elements?.first?["result"]?["aggregateFields"]
        #expect(fields?["s"]?["integerValue"]?.text == "1")
    }

    @Test("Collection listings and queries over everything read the past")
    func collections() async throws {
        let time = try await set("a/1/b/1", n: 1)
        _ = try await set("c/1", n: 1)
        _ = try await served.send(.delete, "/a/1/b/1")
        let body = #"{"readTime":"\#(time)"}"#
        let list = try await served.send(.post, ":listCollectionIds", body)
        #expect(list.json["collectionIds"]?.elements?.map(\.text) == ["a"])
        let tree = #"{"structuredQuery":{"from":[{"allDescendants":true}]},"readTime":"\#(time)"}"#
        let found = try await served.send(.post, ":runQuery", tree)
        #expect(names(found) == [Served.name("a/1/b/1")])
    }

    @Test("A past listing contains the missing documents of that time")
    func missing() async throws {
        _ = try await set("a/1/b/1", n: 1)
        let time = try await set("a/2", n: 1)
        _ = try await served.send(.delete, "/a/1/b/1")
        _ = try await set("a/3/b/1", n: 1)
        let past = time.replacing(":", with: "%3A")
        let list = try await served.send(.get, "/a?showMissing=true&readTime=\(past)")
        let entries = list.json["documents"]?.elements?.map { entry in
            (entry["name"]?.text ?? "", entry["fields"] != nil)
        }
        #expect(entries?.map(\.0) == [Served.name("a/1"), Served.name("a/2")])
        #expect(entries?.map(\.1) == [false, true])
    }

    @Test("A read-only transaction reads the past without conflicts")
    func transaction() async throws {
        let time = try await set("a/1", n: 1)
        let token = try await served.begin(#"{"readOnly":{"readTime":"\#(time)"}}"#)
        _ = try await set("a/1", n: 2)
        let place = ":runQuery"
        let found = try await served.send(.post, place, query(nil, #","transaction":"\#(token)""#))
        let document = found.json.elements?.first?["document"]
        #expect(document?["fields"]?["n"]?["integerValue"]?.text == "1")
        let end = #"{"writes":[],"transaction":"\#(token)"}"#
        #expect(try await served.send(.post, ":commit", end).status == 200)
        let options = #","newTransaction":{"readOnly":{"readTime":"\#(time)"}}"#
        let begun = try await served.send(.post, ":runQuery", query(nil, options))
        #expect(begun.json.elements?.first?["transaction"]?.text != nil)
        let first = begun.json.elements?.first?["document"]
        #expect(first?["fields"]?["n"]?["integerValue"]?.text == "1")
    }

    @Test("Missing documents are known for the whole history, regardless of the change log")
    func shortLog() async throws {
        let served = Served(InMemoryStorageAdapter(changeLogCapacity: 1, history: .seconds(3600)))
        let first = try await served.set("a/1/b/1", n: 1).json["updateTime"]?.text
        for number in 0..<10 { try await served.set("a/\(number)", n: number) }
        let past = try #require(first).replacing(":", with: "%3A")
        #expect(try await served.send(.get, "/a?readTime=\(past)").status == 200)
        let list = try await served.send(.get, "/a?showMissing=true&readTime=\(past)")
        let names = list.json["documents"]?.elements?.map { $0["name"]?.text }
        #expect(names == [Served.name("a/1")])
    }

    @Test("Impossible reads of the past are rejected")
    func refusals() async throws {
        let time = try await set("a/1", n: 1)
        let token = try await served.begin()
        let both = query(time, #","transaction":"\#(token)""#)
        #expect(try await served.send(.post, ":runQuery", both).error == "INVALID_ARGUMENT")
        for (text, error, reason) in [
            ("2126-01-01T00:00:00Z", "INVALID_ARGUMENT", "invalidArgument"),
            ("yesterday", "INVALID_ARGUMENT", "invalidArgument"),
        ] {
            let answer = try await served.send(.post, ":runQuery", query(text))
            #expect(answer.error == error)
            #expect(answer.reason == reason)
        }
        let forgetful = Served(InMemoryStorageAdapter())
        let refused = try await forgetful.send(.post, ":runQuery", query(time))
        #expect(refused.error == "UNIMPLEMENTED")
    }
}
