import Foundation
import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Keel's protocol extensions")
struct ServedExtensionTests {
    private let served = Served()
    private let query = #""structuredQuery":{"from":[{"collectionId":"a"}]}"#

    @Test("Without the header, extensions are neither returned nor interpreted")
    func silence() async throws {
        let keel =
            #"""
            ,"keel":{"batchId":"1","position":true,
            "reads":{"documents":[{"name":"\#(Served.name("a/1"))","revision":"5"}]}}
            """#
        let body = #"{"writes":[\#(Served.write("a/1", n: 1))]\#(keel)}"#
        for _ in 0..<2 {
            let answer = try await served.send(.post, ":commit", body)
            #expect(answer.status == 200)
            #expect(answer.json["keel"] == nil)
            #expect(answer.json["writeResults"]?.elements?.first?["keel"] == nil)
        }
        let found = try await served.send(.get, "/a/1")
        #expect(found.json["keel"] == nil)
        let name = try #require(HTTPField.Name("Keel-Protocol"))
        #expect(found.head.headerFields[name] == nil)
    }

    @Test("Documents and results have revisions, and a commit has a position")
    func revisions() async throws {
        let name = try #require(HTTPField.Name("Keel-Protocol"))
        let body =
            #"{"writes":[\#(Served.write("a/1", n: 1)),{"delete":"\#(Served.name("a/2"))"}]}"#
        let answer = try await served.send(.post, ":commit", body, extended: true)
        #expect(answer.head.headerFields[name] == "1")
        let results = try #require(answer.json["writeResults"]?.elements)
        let revision = try #require(results[0]["keel"]?["revision"]?.text)
        #expect(results[1]["keel"] == nil)
        let position = try #require(answer.json["keel"]?["position"]?.text)
        let found = try await served.send(.get, "/a/1", extended: true)
        #expect(found.json["keel"] == ["revision": .string(revision)])
        let asked = #"{\#(query),"keel":{"position":true,"staleness":"1.5s"}}"#
        let read = try await served.send(.post, ":runQuery", asked, extended: true)
        let last = try #require(read.json.elements?.last)
        #expect(last["keel"]?["position"]?.text == position)
        #expect(last["keel"]?["plan"]?["access"] != nil)
        let listed = #"{"keel":{"position":true}}"#
        let collections = try await served.send(.post, ":listCollectionIds", listed, extended: true)
        #expect(collections.json["keel"]?["position"]?.text == position)
    }

    @Test("A reply has the beginning or the end of the result, up to the client’s limit of bytes")
    func bytes() async throws {
        let text = String(repeating: "x", count: 10_000)
        for number in 1...9 {
            let body = #"{"fields":{"text":{"stringValue":"\#(text)"}}}"#
            #expect(try await served.send(.patch, "/a/\(number)", body).status == 200)
        }
        func names(_ json: FirestoreJSON, _ part: String) -> [String] {
            (json.elements ?? []).compactMap { element in
                let document = element[part]
                return document?.text ?? document?["name"]?.text
            }
        }
        let lastEight =
            #"""
            "structuredQuery":{"from":[{"collectionId":"a"}],
            "orderBy":[{"field":{"fieldPath":"__name__"}}],
            "limit":8,"keel":{"limitsLast":true}}
            """#
        // A missing document is answered too; the last ones are left open.
        let paths = ["a/9", "a/0", "a/3", "a/7", "a/1"].map(Served.name)
        let asked = #""documents":["\#(paths.joined(separator: #"",""#))"]"#
        for (bytes, count) in [("1", 1), ("25000", 3), ("1000000", 9)] {
            let addition = #""keel":{"bytes":"\#(bytes)"}"#
            let query = #"{\#(query),\#(addition)}"#
            let found = try await served.send(.post, ":runQuery", query, extended: true).json
            #expect(
                names(found, "document")
                    == (1...9).map { Served.name("a/\($0)") }.prefix(count).map(\.self)
            )
            #expect(found.elements?.last?["keel"]?["partial"]?.flag == (count < 9 ? true : nil))
            let last = #"{\#(lastEight),\#(addition)}"#
            let end = try await served.send(.post, ":runQuery", last, extended: true).json
            #expect(
                names(end, "document")
                    == (2...9).map { Served.name("a/\($0)") }.suffix(count).map(\.self)
            )
            #expect(end.elements?.last?["keel"]?["partial"]?.flag == (count < 8 ? true : nil))
            let batch = #"{\#(asked),\#(addition)}"#
            let got = try await served.send(.post, ":batchGet", batch, extended: true).json
            #expect(
                names(got, "found")
                    == [paths[0], paths[2], paths[3], paths[4]].prefix(count).map(\.self)
            )
            #expect(names(got, "missing") == (count == 1 ? [] : [paths[1]]))
            #expect(got.elements?.last?["keel"]?["partial"]?.flag == (count < 4 ? true : nil))
        }
        let wrong = #"{\#(query),"keel":{"bytes":"0"}}"#
        #expect(try await served.send(.post, ":runQuery", wrong, extended: true).status == 400)
    }

    @Test("A limited read over the network returns the beginning or the end of the whole one")
    func boundedReads() async throws {
        let server = try #require(URL(string: "http://127.0.0.1"))
        let adapter = FirestoreStorageAdapter(
            .keel(server),
            transport: HandlerTransport(served.server)
        )
        let text = DocumentValue.string(String(repeating: "x", count: 10_000))
        let writes = (1...9).map { DocumentWrite("a/\($0)", .set(DocumentBody(["text": text]))) }
        for result in try await adapter.commit([WriteBatch(writes)]) { _ = try result.get() }
        var request = ReadRequest(.query(DocumentQuery("a")))
        request.maximumBytes = 25_000
        let result = try await adapter.read(request)
        #expect(try result.found.map(\.id) == ["1", "2", "3"])
        #expect(result.isPartial)
        request.operation = .query(DocumentQuery("a").order(by: .documentID).limit(toLast: 8))
        let end = try await adapter.read(request)
        #expect(try end.found.map(\.id) == ["7", "8", "9"])
        #expect(end.isPartial)
        request.operation = .documents(["a/9", "a/0", "a/9", "a/3", "a/7", "a/1"])
        let documents = try await adapter.read(request)
        let found = try documents.documents
        #expect(found.map { $0?.id } == ["9", nil, "9", "3", "7"])
        #expect(documents.isPartial)
    }

    @Test("A condition on a revision is checked")
    func condition() async throws {
        try await served.set("a/1", n: 1)
        let found = try await served.send(.get, "/a/1", extended: true)
        let revision = try #require(found.json["keel"]?["revision"]?.text)
        for (number, status) in [(revision, 200), (revision, 400)] {
            let condition = #","currentDocument":{"keel":{"revision":"\#(number)"}}"#
            let body = "{\"writes\":[\(Served.write("a/1", n: 2, condition))]}"
            let answer = try await served.send(.post, ":commit", body, extended: true)
            #expect(answer.status == status)
        }
    }

    @Test("A batch with an id takes effect once")
    func batchID() async throws {
        let transform =
            #"""
            ,"updateMask":{},"updateTransforms":[{"fieldPath":"n",
            "increment":{"integerValue":"1"}}]
            """#
        let body = #"{"writes":[\#(Served.write("a/1", n: 0, transform))],"keel":{"batchId":"b"}}"#
        let first = try await served.send(.post, ":commit", body, extended: true)
        let second = try await served.send(.post, ":commit", body, extended: true)
        #expect(first.status == 200)
        #expect(second.json == first.json)
        let found = try await served.send(.get, "/a/1")
        #expect(found.json["fields"]?["n"] == ["integerValue": "1"])
    }

    @Test("The reads included in a commit are validated")
    func reads() async throws {
        try await served.set("a/1", n: 1)
        let found = try await served.send(.get, "/a/1", extended: true)
        let revision = try #require(found.json["keel"]?["revision"]?.text)
        let read = #"{"name":"\#(Served.name("a/1"))","revision":"\#(revision)"}"#
        let reads = #"""
            {"documents":[\#(read),{"name":"\#(Served.name("a/2"))"}],
             "queries":[{"parent":"\#(Served.database)/documents",\#(query),"found":[\#(read)]}]}
            """#
        let body = #"{"writes":[\#(Served.write("b/1", n: 1))],"keel":{"reads":\#(reads)}}"#
        let good = try await served.send(.post, ":commit", body, extended: true)
        #expect(good.status == 200)
        try await served.set("a/3", n: 1)
        let bad = try await served.send(.post, ":commit", body, extended: true)
        #expect(bad.error == "ABORTED")
    }

    @Test("The reads included in a commit are limited, except for what its queries found")
    func countOfReads() async throws {
        let served = Served { $0.maximumReadsPerTransaction = 3 }
        var found: [String] = []
        for n in 0..<4 {
            try await served.set("a/\(n)", n: n)
            let document = try await served.send(.get, "/a/\(n)", extended: true)
            let revision = try #require(document.json["keel"]?["revision"]?.text)
            found.append(#"{"name":"\#(Served.name("a/\(n)"))","revision":"\#(revision)"}"#)
        }
        let all = found.joined(separator: ",")
        let read = #"{"parent":"\#(Served.database)/documents",\#(query),"found":[\#(all)]}"#
        for (documents, queries) in [(0, 3), (3, 0), (2, 1), (4, 0), (0, 4), (2, 2)] {
            let reads = #"""
                {"documents":[\#(found.prefix(documents).joined(separator: ","))],
                 "queries":[\#([String](repeating: read, count: queries).joined(separator: ","))]}
                """#
            let body = #"{"writes":[\#(Served.write("b/1", n: 1))],"keel":{"reads":\#(reads)}}"#
            let answer = try await served.send(.post, ":commit", body, extended: true)
            let isAccepted = documents + queries <= 3
            #expect(answer.status == (isAccepted ? 200 : 400))
            #expect(answer.reason == (isAccepted ? nil : "tooLarge"))
        }
    }

    @Test("The queries included in a commit obey the rules of queries")
    func queriesOfReads() async throws {
        let equal = #""field":{"fieldPath":"n"},"op":"EQUAL","value":{"integerValue":"1"}"#
        func composite(_ op: String, of filter: String, _ count: Int) -> String {
            let all = [String](repeating: filter, count: count).joined(separator: ",")
            return #"{"compositeFilter":{"op":"\#(op)","filters":[\#(all)]}}"#
        }
        let either = composite("OR", of: #"{"fieldFilter":{\#(equal)}}"#, 5)
        for (count, status) in [(1, 200), (3, 400)] {
            let filter = composite("AND", of: either, count)
            let query = #"{"from":[{"collectionId":"a"}],"where":\#(filter)}"#
            let read = #"{"parent":"\#(Served.database)/documents","structuredQuery":\#(query)}"#
            let keel = #"{"reads":{"queries":[\#(read)]}}"#
            let body = #"{"writes":[\#(Served.write("b/1", n: 1))],"keel":\#(keel)}"#
            let answer = try await served.send(.post, ":commit", body, extended: true)
            #expect(answer.status == status)
        }
    }

    @Test("A replica keeps its times and revision, within limits")
    func replicates() async throws {
        func body(_ revision: String, _ path: String = "a/1") -> String {
            #"""
            {"writes":[{"keel":{"replicate":{"name":"\#(Served.name(path))","fields":{},
              "createTime":"2020-01-01T00:00:00Z","updateTime":"2021-01-01T00:00:00Z",
              "keel":{"revision":"\#(revision)"}}}}]}
            """#
        }
        let answer = try await served.send(.post, ":commit", body("77"), extended: true)
        #expect(answer.status == 200)
        #expect(
            answer.json["writeResults"]?.elements?.first?["updateTime"] == "2021-01-01T00:00:00Z"
        )
        let found = try await served.send(.get, "/a/1", extended: true)
        #expect(found.json["createTime"] == "2020-01-01T00:00:00Z")
        #expect(found.json["keel"] == ["revision": "77"])
        for bad in [
            body("9223372036854775807"), body("0"), body("-1"), body("5", "__keel_sync__/1"),
            body("5", "__keel_sync__/\u{301}1"),
        ] {
            let refused = try await served.send(.post, ":commit", bad, extended: true)
            #expect(refused.error == "INVALID_ARGUMENT")
        }
        let plain = try await served.send(.post, ":commit", body("78"))
        #expect(plain.error == "INVALID_ARGUMENT")
    }

    @Test("A strict query without an index is rejected")
    func strict() async throws {
        try await served.set("a/1", n: 1)
        let body = #"""
            {"structuredQuery":{"from":[{"collectionId":"a"}],
             "orderBy":[{"field":{"fieldPath":"n"}}]},
             "keel":{"strict":true}}
            """#
        let refused = try await served.send(.post, ":runQuery", body, extended: true)
        #expect(refused.error == "FAILED_PRECONDITION")
        #expect(refused.reason == "indexRequired")
        let lenient = try await served.send(.post, ":runQuery", body)
        #expect(lenient.status == 200)
    }

    @Test("Declaring a schema returns the capabilities of the store")
    func schema() async throws {
        let adapter = InMemoryStorageAdapter().recorded()
        let served = Served(adapter)
        let name = try #require(HTTPField.Name("Keel-Protocol"))
        let path = "/keel/v1/schema"
        let body = Array(
            #"{"indexes":[{"collection":"a","components":[{"ascending":"n"}]}],"searches":[]}"#.utf8
        )
        let answer = try await served.send(.post, path: path, body, [name: "1"])
        #expect(answer.status == 200)
        let offered = try #require(answer.json["capabilities"]?.elements)
        #expect(offered.contains("transactions"))
        let told = try await served.send(.get, path: path, nil, [name: "1"])
        #expect(told.json == answer.json)
        let plain = try await served.send(.post, path: path, body)
        #expect(plain.error == "INVALID_ARGUMENT")
        let own = Array(
            #"{"indexes":[{"collection":"__a__","components":[{"ascending":"n"}]}]}"#.utf8
        )
        let refused = try await served.send(.post, path: path, own, [name: "1"])
        #expect(refused.error == "INVALID_ARGUMENT")
        let declared = adapter.calls.filter { if case .prepare = $0 { true } else { false } }
        #expect(declared.count == 1)
    }
}
