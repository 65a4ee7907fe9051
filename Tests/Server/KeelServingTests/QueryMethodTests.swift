import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Queries, aggregations and reads of several documents")
struct QueryMethodTests {
    private let served = Served()

    private func fill() async throws {
        for n in 1...5 { try await served.set("a/\(n)", n: n) }
        try await served.set("b/1/a/6", n: 6)
    }

    private static func names(_ answer: Served.Answer) -> [String]? {
        answer.json.elements?.compactMap { $0["document"]?["name"]?.text }
    }

    @Test("A query finds documents below the root, below a document or in a group")
    func runs() async throws {
        try await fill()
        let above = #"""
            {"structuredQuery":{"from":[{"collectionId":"a"}],"where":{"fieldFilter":{
              "field":{"fieldPath":"n"},"op":3,"value":{"integerValue":"3"}}}}}
            """#
        let found = try await served.send(.post, ":runQuery", above)
        #expect(Self.names(found) == [Served.name("a/4"), Served.name("a/5")])
        let times = found.json.elements?.map { $0["readTime"]?.text }
        #expect(times?.count == 2 && times?.contains(nil) == false)
        let below = try await served.send(.post, "/b/1:runQuery", above)
        #expect(Self.names(below) == [Served.name("b/1/a/6")])
        let group = #"{"structured_query":{"from":[{"collection_id":"a","all_descendants":true}]}}"#
        let all = try await served.send(.post, ":runQuery", group)
        #expect(Self.names(all)?.count == 6)
    }

    @Test("An empty result contains the read time")
    func empty() async throws {
        let body = #"{"structuredQuery":{"from":[{"collectionId":"none"}]}}"#
        let answer = try await served.send(.post, ":runQuery", body)
        let elements = try #require(answer.json.elements)
        #expect(elements.count == 1)
        #expect(elements[0].members?.map(\.name) == ["readTime"])
    }

    @Test(
        "Invalid queries are rejected",
        arguments: [
            ("{}", 400),
            (
                #"""
                {"structuredQuery":{"from":[{}],
                "orderBy":[{"field":{"fieldPath":"n"}}]}}
                """#,
                400
            ),
            (#"{"structuredQuery":{"from":[{"collectionId":"__own__"}]}}"#, 400),
            (#"{"structuredQuery":{"from":[{"collectionId":"a/b/c"}]}}"#, 400),
            (#"{"structuredQuery":{"from":[{"collectionId":"a"}],"limit":-1}}"#, 400),
            (#"{"structuredQuery":{"from":[{"collectionId":"a"}],"findNearest":{}}}"#, 501),
            (#"{"structuredQuery":{"from":[{}]},"explainOptions":{}}"#, 501),
            (#"{"structuredQuery":{"from":[{"collectionId":"a"}]},"explainOptions":1}"#, 400),
            (
                #"""
                {"structuredQuery":{"from":[{"collectionId":"a"}]},
                "readTime":"2026-01-01T00:00:00Z"}
                """#,
                501
            ),
            (
                #"""
                {"structuredQuery":{"from":[{"collectionId":"a"}],
                "where":{"compositeFilter":{"op":"AND"}}}}
                """#,
                400
            ),
        ]
    )
    func refuses(body: String, status: Int) async throws {
        let answer = try await served.send(.post, ":runQuery", body)
        #expect(answer.status == status)
    }

    @Test("Counts, sums and averages are returned under their aliases")
    func aggregates() async throws {
        try await fill()
        let body = #"""
            {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"a"}]},
              "aggregations":[{"alias":"n","count":{}},{"sum":{"field":{"fieldPath":"n"}}},
                {"alias":"mean","avg":{"field":{"fieldPath":"n"}}}]}}
            """#
        let answer = try await served.send(.post, ":runAggregationQuery", body)
        let fields = answer.json.elements?.first?["result"]?["aggregateFields"]
        #expect(fields?["n"] == ["integerValue": "5"])
        #expect(fields?["field_1"] == ["integerValue": "15"])
        #expect(fields?["mean"] == ["doubleValue": .number(3)])
    }

    @Test("Unnamed sums get numbered aliases, limited ones use the smallest values")
    func limitedSums() async throws {
        for (id, n) in [("x", 1), ("y", 2), ("a", 8), ("b", 9)] {
            try await served.set("a/\(id)", n: n)
        }
        let body = #"""
            {"structuredAggregationQuery":{
              "structuredQuery":{"from":[{"collectionId":"a"}],"limit":2},
              "aggregations":[{"sum":{"field":{"fieldPath":"n"}}},{"count":{}}]}}
            """#
        let answer = try await served.send(.post, ":runAggregationQuery", body)
        let fields = answer.json.elements?.first?["result"]?["aggregateFields"]
        #expect(fields?["field_1"] == ["integerValue": "3"])
        #expect(fields?["field_2"] == ["integerValue": "2"])
        let own = try await served.send(.post, ":runAggregationQuery", body, extended: true)
        #expect(own.json.elements?.first?["result"]?["aggregateFields"] == fields)
    }

    @Test("batchGet returns each document once and missing ones last")
    func batchGets() async throws {
        try await fill()
        let names = ["a/2", "a/9", "a/2", "b/1/a/6"].map { "\"\(Served.name($0))\"" }
        let body = #"{"documents":[\#(names.joined(separator: ","))],"mask":{"fieldPaths":["n"]}}"#
        let answer = try await served.send(.post, ":batchGet", body)
        let elements = try #require(answer.json.elements)
        #expect(
            elements.map { $0["found"]?["fields"]?["n"]?["integerValue"]?.text } == ["2", "6", nil]
        )
        #expect(elements.map { $0["missing"]?.text } == [nil, nil, Served.name("a/9")])
        let other = #"{"documents":["projects/o/databases/d/documents/a/1"]}"#
        let refused = try await served.send(.post, ":batchGet", other)
        #expect(refused.error == "INVALID_ARGUMENT")
    }

    @Test("A read selects up to 10,000 fields")
    func manyFields() async throws {
        try await served.set("a/1", n: 1)
        for (count, status) in [(10_000, 200), (10_001, 400)] {
            let names = (1..<count).map { "f\($0)" } + ["n"]
            let mask = names.map { "\"\($0)\"" }.joined(separator: ",")
            let name = Served.name("a/1")
            let get = #"{"documents":["\#(name)"],"mask":{"fieldPaths":[\#(mask)]}}"#
            #expect(try await served.send(.post, ":batchGet", get).status == status)
            let fields = names.map { #"{"fieldPath":"\#($0)"}"# }.joined(separator: ",")
            for from in [#"[{"collectionId":"a"}]"#, "[]"] {
                let query = #""from":\#(from),"select":{"fields":[\#(fields)]}"#
                let body = #"{"structuredQuery":{\#(query)}}"#
                #expect(try await served.send(.post, ":runQuery", body).status == status)
            }
        }
    }

    @Test("Collections are listed in pages without Keel's own")
    func listsCollections() async throws {
        for name in ["c", "a", "b"] { try await served.set("\(name)/1", n: 1) }
        try await served.set("a/1/below/1", n: 1)
        let own = DocumentWrite("__own__/1", .set(DocumentBody(DocumentFields())))
        _ = try await served.adapter.commit([WriteBatch([own])])
        let first = try await served.send(.post, ":listCollectionIds", #"{"pageSize":2}"#)
        #expect(first.json["collectionIds"] == ["a", "b"])
        let token = try #require(first.json["nextPageToken"]?.text)
        let next = try await served.send(.post, ":listCollectionIds", #"{"pageToken":"\#(token)"}"#)
        #expect(next.json == .object([.init("collectionIds", ["c"])]))
        let below = try await served.send(.post, "/a/1:listCollectionIds", "{}")
        #expect(below.json["collectionIds"] == ["below"])
    }

    @Test("Pipelines and vector searches are unimplemented, with a sentence")
    func unimplemented() async throws {
        let search = #"{"structuredQuery":{"from":[{"collectionId":"a"}],"findNearest":{}}}"#
        for (method, body, word) in [
            (":executePipeline", #"{"structuredPipeline":{"pipeline":{}}}"#, "pipelines"),
            (":runQuery", search, "findNearest"),
        ] {
            let answer = try await served.send(.post, method, body)
            #expect(answer.status == 501)
            #expect(answer.error == "UNIMPLEMENTED")
            #expect(answer.json["error"]?["message"]?.text?.contains(word) == true)
        }
    }

    @Test(
        "Methods unavailable over REST refer to the change stream",
        arguments: [":listen", ":write"]
    )
    func streams(method: String) async throws {
        let answer = try await served.send(.post, method, "{}")
        #expect(answer.status == 501)
        #expect(answer.error == "UNIMPLEMENTED")
        #expect(answer.json["error"]?["message"]?.text?.contains("/sync/all/events") == true)
    }
}
