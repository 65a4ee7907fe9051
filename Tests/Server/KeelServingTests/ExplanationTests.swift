import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

@Suite("Explained queries")
struct ExplanationTests {
    private let served = Served()

    private func run(_ query: String, _ options: String) async throws -> Served.Answer {
        let body = #"{"structuredQuery":\#(query),"explainOptions":\#(options)}"#
        return try await served.send(.post, ":runQuery", body)
    }

    private func properties(_ answer: Served.Answer) -> String? {
        let metrics = answer.json.elements?.last?["explainMetrics"]
        return metrics?["planSummary"]?["indexesUsed"]?.elements?.first?["properties"]?.text
    }

    @Test("A planned query returns its plan and no documents")
    func plan() async throws {
        for number in 0..<3 { try await served.set("a/\(number)", n: number) }
        let answer = try await run(#"{"from":[{"collectionId":"a"}]}"#, "{}")
        #expect(properties(answer) == "(__name__ ASC)")
        let metrics = try #require(answer.json.elements?.first?["explainMetrics"])
        #expect(answer.json.elements?.count == 1)
        #expect(answer.json.elements?.first?["document"] == nil)
        #expect(metrics["executionStats"] == nil)
    }

    @Test("The last message of an analyzed query contains its statistics")
    func analysis() async throws {
        for number in 0..<3 { try await served.set("a/\(number)", n: number) }
        let filter = #"""
            {"fieldFilter":{"field":{"fieldPath":"n"},"op":"GREATER_THAN",
            "value":{"integerValue":"0"}}}
            """#
        let query = #"{"from":[{"collectionId":"a"}],"where":\#(filter)}"#
        let answer = try await run(query, #"{"analyze":true}"#)
        let elements = try #require(answer.json.elements)
        #expect(elements.map { $0["document"] != nil } == [true, true])
        #expect(elements.first?["explainMetrics"] == nil)
        let statistics = elements.last?["explainMetrics"]?["executionStats"]
        #expect(statistics?["resultsReturned"]?.text == "2")
        #expect(statistics?["executionDuration"]?.text?.hasSuffix("s") == true)
        #expect(statistics?["debugStats"]?["documents_scanned"]?.text == "3")
        #expect(properties(answer) == "(__name__ ASC)")
    }

    @Test("A plan names a declared index by its fields")
    func index() async throws {
        let components: [IndexDefinition.Component] = [
            .ascending("n"), .contains("tags"), .descending(FieldPath("`a,b`")),
        ]
        let index = IndexDefinition("a", components)
        try await served.adapter.prepare(StorageSchema(indexes: [index]))
        let query = #"""
            {"from":[{"collectionId":"a"}],"where":{"compositeFilter":{"op":"AND","filters":[
            {"fieldFilter":{"field":{"fieldPath":"n"},"op":"EQUAL","value":{"integerValue":"1"}}},
            {"fieldFilter":{"field":{"fieldPath":"tags"},"op":"ARRAY_CONTAINS",
            "value":{"stringValue":"x"}}}]}},
            "orderBy":[{"field":{"fieldPath":"`a,b`"},"direction":"DESCENDING"}]}
            """#
        let properties = properties(try await run(query, "{}"))
        #expect(properties == "(n ASC, tags CONTAINS, `a,b` DESC, __name__ DESC)")
    }

    @Test("An aggregation can be explained")
    func aggregation() async throws {
        for number in 0..<3 { try await served.set("a/\(number)", n: number) }
        for (options, isAnalyzed) in [("{}", false), (#"{"analyze":true}"#, true)] {
            let body = #"""
                {"structuredAggregationQuery":{"aggregations":[{"alias":"c","count":{}}],
                "structuredQuery":{"from":[{"collectionId":"a"}]}},"explainOptions":\#(options)}
                """#
            let answer = try await served.send(.post, ":runAggregationQuery", body)
            let last = try #require(answer.json.elements?.last)
            #expect((last["result"] != nil) == isAnalyzed)
            let statistics = last["explainMetrics"]?["executionStats"]
            #expect(statistics?["resultsReturned"]?.text == (isAnalyzed ? "1" : nil))
            #expect(properties(answer) == "(__name__ ASC)")
        }
    }
}

@Suite("Partitioned queries")
struct PartitionTests {
    private let served = Served(InMemoryStorageAdapter(history: .seconds(3600)))

    private func fill(_ count: Int) async throws {
        let writes = (0..<count).map { number -> DocumentWrite in
            let parent = number % 3 == 0 ? "" : "p/\(number % 3)/"
            let path = DocumentPath("\(parent)a/\(format(number))")
            return DocumentWrite(path, .set(DocumentBody(["n": .integer(Int64(number))])))
        }
        var rest = writes[...]
        while !rest.isEmpty {
            _ = try await served.adapter.commit([WriteBatch(Array(rest.prefix(400)))])
            rest = rest.dropFirst(400)
        }
    }

    private func format(_ number: Int) -> String {
        String(repeating: "0", count: 5 - "\(number)".count) + "\(number)"
    }

    private func points(_ more: String) async throws -> (names: [String], next: String?) {
        let body = #"""
            {"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}]}\#(more)}
            """#
        let answer = try await served.send(.post, ":partitionQuery", body)
        #expect(answer.status == 200)
        let names = (answer.json["partitions"]?.elements ?? []).compactMap { cursor in
            cursor["values"]?.elements?.first?["referenceValue"]?.text
        }
        return (names, answer.json["nextPageToken"]?.text)
    }

    /// Returns the number of documents between two names, queried like the client of a partition.
    private func count(from start: String?, to end: String?) async throws -> Int {
        func bound(_ name: String, _ member: String) -> String {
            #","\#(member)":{"values":[{"referenceValue":"\#(name)"}],"before":true}"#
        }
        let body = #"""
            {"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}],
            "orderBy":[{"field":{"fieldPath":"__name__"}}]
            \#(start.map { bound($0, "startAt") } ?? "")\#(end.map { bound($0, "endAt") } ?? "")}}
            """#
        let answer = try await served.send(.post, ":runQuery", body)
        return (answer.json.elements ?? []).count { $0["document"] != nil }
    }

    @Test("Partitions have similar sizes and together cover the whole", arguments: [1, 4, 100])
    func parts(most: Int) async throws {
        try await fill(1_000)
        let (names, next) = try await points(#","partitionCount":"\#(most)""#)
        #expect(names.count == min(most, 6))
        #expect(next == nil)
        let bounds = [nil] + names.map(Optional.some) + [nil]
        var counts: [Int] = []
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            counts.append(try await count(from: start, to: end))
        }
        #expect(counts.reduce(0, +) == 1_000)
        #expect(try #require(counts.max()) - #require(counts.min()) <= 1)
    }

    @Test("A small group is one partition, and pages return all partition points")
    func pages() async throws {
        try await fill(200)
        #expect(try await points(#","partitionCount":"9""#).names.isEmpty)
        try await fill(1_000)
        let all = try await points(#","partitionCount":"5""#).names
        var paged: [String] = []
        var token = ""
        repeat {
            let (names, next) = try await points(
                #","partitionCount":"5","pageSize":2,"pageToken":"\#(token)""#
            )
            paged += names
            token = next ?? ""
        } while !token.isEmpty
        #expect(paged == all)
    }

    @Test("The partition points of a past state do not change")
    func past() async throws {
        try await fill(400)
        var request = ReadRequest(.documents([]))
        request.needsTime = true
        let time = try #require(try await served.adapter.read(request).time)
        let count = #","partitionCount":"2""#
        let before = try await points(count).names
        try await fill(2_000)
        let text = FirestoreTime.text(of: time)
        #expect(try await points(#"\#(count),"readTime":"\#(text)""#).names == before)
        #expect(try await points(count).names != before)
    }

    @Test(
        "Partitioning an unsuitable query is rejected",
        arguments: [
            #"{"structuredQuery":{"from":[{"collectionId":"a"}]},"partitionCount":"2"}"#,
            #"{"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}]}}"#,
            #"""
            {"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}],"limit":1},
            "partitionCount":"2"}
            """#,
        ]
    )
    func refusals(body: String) async throws {
        let answer = try await served.send(.post, ":partitionQuery", body)
        #expect(answer.error == "INVALID_ARGUMENT")
    }
}
