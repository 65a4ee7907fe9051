import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Reads over the Firestore protocol")
struct ReadingTests {
    @Test("documents are returned in the requested order, repeated, and nil if missing")
    func documents() async throws {
        let missing = #"{"missing": "projects/p/databases/(default)/documents/a/2"}"#
        let scripted = Scripted.google([
            .json(#"[{"found": \#(document("a/1", second: 3))}, \#(missing)]"#)
        ])
        let paths: [DocumentPath] = ["a/2", "a/1", "a/2", "a/1"]
        let result = try await scripted.adapter.read(ReadRequest(.documents(paths)))
        let documents = try result.documents
        #expect(documents.map { $0?.path } == [nil, "a/1", nil, "a/1"])
        #expect(documents[1]?.revision == Revision(number: 3_000_002))
        #expect(result.position == nil)
        let path = "/v1/projects/p/databases/%28default%29/documents:batchGet"
        #expect(scripted.requests == ["POST " + path])
        let names = try scripted.message(0)["documents"]?.elements?.compactMap(\.text)
        #expect(names == ["a/2", "a/1"].map { "projects/p/databases/(default)/documents/\($0)" })
        let head = try #require(scripted.transport.calls.first?.head)
        #expect(head.scheme == "https")
        #expect(head.authority == "firestore.googleapis.com")
        #expect(head.headerFields[.contentType]?.hasPrefix("application/json") == true)
    }

    @Test("a bound with values of implied orders names these orders")
    func impliedOrders() async throws {
        let scripted = Scripted.google([.json(#"[{"readTime": "1970-01-01T00:00:01Z"}]"#)])
        let query = DocumentQuery("a").where(.greater("n", 1)).start(at: 2)
        _ = try await scripted.adapter.read(ReadRequest(.query(query)))
        let orders = try scripted.message(0)["structuredQuery"]?["orderBy"]
        #expect(orders == [["field": ["fieldPath": "n"], "direction": "ASCENDING"]])
    }

    @Test("documents of several requests have the read time of the first")
    func chunks() async throws {
        let scripted = Scripted.google()
        scripted.transport.on(
            .post,
            "/v1/projects/p/databases/%28default%29/documents:batchGet"
        ) { match in
            let message = try? FirestoreJSON(parsing: match.call.body)
            // Like a server with ongoing writes: the requested time in the past, or otherwise the present.
            let time = message?["readTime"] ?? "2020-01-01T00:00:00.123456Z"
            let elements = (message?["documents"]?.elements ?? []).map {
                FirestoreJSON.object([.init("missing", $0), .init("readTime", time)])
            }
            return .status(.ok, body: FirestoreJSON.array(elements).bytes)
        }
        let paths = (0..<650).map { DocumentPath("a/\($0)") }
        let result = try await scripted.adapter.read(ReadRequest(.documents(paths)))
        let documents = try result.documents
        #expect(documents.count == 650)
        #expect(result.time == nil)
        let times = try (0..<3).map { try scripted.message($0)["readTime"] }
        let first = FirestoreJSON.string("2020-01-01T00:00:00.123456Z")
        #expect(times == [nil, first, first])
        _ = try await scripted.adapter.read(ReadRequest(.documents(Array(paths.prefix(300)))))
        #expect(scripted.requests.count == 4)
    }

    @Test("reading no documents sends no request")
    func nothing() async throws {
        let scripted = Scripted.google()
        _ = try await scripted.adapter.read(ReadRequest(.documents([])))
        #expect(scripted.requests.isEmpty)
    }

    @Test("a query below an id that begins with a combining mark is sent to its parent")
    func combiningParent() async throws {
        let scripted = Scripted.google([.json(#"[{"readTime": "2020-01-01T00:00:00Z"}]"#)])
        let collection = CollectionPath("u").document("\u{301}a").collection("c")
        _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery(collection))))
        let root = "/v1/projects/p/databases/%28default%29/documents"
        #expect(scripted.requests == ["POST \(root)/u/%CC%81a:runQuery"])
    }

    @Test("a query is sent to its parent with percent-encoded segments")
    func query() async throws {
        let scripted = Scripted.google([
            .json(#"[{"document": \#(document("u/x/c/1"))}, {"readTime": "2020-01-01T00:00:00Z"}]"#)
        ])
        let collection = CollectionPath("u").document("a:b?#%é ").collection("c")
        let query = DocumentQuery(collection).where(.equal("n", 1)).limit(to: 5)
        let result = try await scripted.adapter.read(ReadRequest(.query(query)))
        let documents = try result.found
        #expect(documents.map(\.path) == ["u/x/c/1"])
        let path =
            "/v1/projects/p/databases/%28default%29/documents/u/a%3Ab%3F%23%25%C3%A9%20:runQuery"
        #expect(scripted.requests == ["POST " + path])
        let json = try scripted.message(0)
        #expect(json["keel"] == nil)
        #expect(json["structuredQuery"]?["limit"] == .integer(5))
    }

    @Test("without Keel's extensions, limit(toLast:) reverses the query")
    func last() async throws {
        let elements = ["a/3", "a/2"].map { #"{"document": \#(document($0))}"# }
        let scripted = Scripted.google([.json("[\(elements.joined(separator: ","))]")])
        let query = DocumentQuery("a").order(by: "n").start(at: 1).limit(toLast: 2)
        let result = try await scripted.adapter.read(ReadRequest(.query(query)))
        let documents = try result.found
        #expect(documents.map(\.path) == ["a/2", "a/3"])
        let structured = try scripted.message(0)["structuredQuery"]
        let orders = structured?["orderBy"]?.elements ?? []
        #expect(orders.map { $0["direction"] } == ["DESCENDING", "DESCENDING"])
        #expect(structured?["startAt"] == nil)
        #expect(structured?["endAt"]?["values"]?.elements?.count == 1)
    }

    @Test("a Keel server receives the options, and its position and plan are decoded")
    func additions() async throws {
        let reply = #"""
            [{"readTime": "2020-01-01T00:00:00Z", "keel": {"position": "AP8", "plan":
            {"access": "scan", "examined": "12"}}}]
            """#
        let scripted = try Scripted.keel([.keel(reply)])
        var request = ReadRequest(.query(DocumentQuery("a").order(by: "n").limit(toLast: 2)))
        request.needsPosition = true
        request.isStrict = true
        request.maximumStaleness = .milliseconds(1_500)
        let result = try await scripted.adapter.read(request)
        #expect(result.position == ChangeCursor(bytes: [0, 255]))
        #expect(result.plan == QueryPlan(access: .scan, examined: 12))
        let json = try scripted.message(0)
        #expect(json["keel"] == ["strict": true, "position": true, "staleness": "1.500000000s"])
        #expect(json["structuredQuery"]?["keel"] == ["limitsLast": true])
        let field = try #require(HTTPField.Name("Keel-Protocol"))
        #expect(scripted.transport.calls.first?.head.headerFields[field] == "1")
    }

    @Test("aggregates are decoded by name in any order")
    func aggregates() async throws {
        let reply = #"""
            [{"result": {"aggregateFields": {"value_1": {"doubleValue": 1.5},
            "value_0": {"integerValue": "3"}}}, "readTime": "2020-01-01T00:00:00Z"}]
            """#
        let scripted = Scripted.google([.json(reply)])
        let query = DocumentQuery("a").select("x")
        let operation = ReadOperation.aggregate(query, [.count(upTo: 9), .average("n")])
        let result = try await scripted.adapter.read(ReadRequest(operation))
        let values = try result.values
        #expect(values == [3, 1.5])
        let json = try scripted.message(0)["structuredAggregationQuery"]
        #expect(json?["structuredQuery"]?["select"] == nil)
        #expect(json?["aggregations"]?.elements?.first?["count"]?["upTo"] == "9")
    }

    @Test("collection names are read in pages and sorted by bytes")
    func names() async throws {
        let scripted = Scripted.google([
            .json(#"{"collectionIds": ["b", "a"], "nextPageToken": "more"}"#),
            .json(#"{"collectionIds": ["é", "Z"]}"#),
        ])
        let result = try await scripted.adapter.read(ReadRequest(.collections(under: "u/1")))
        let names = try result.names
        #expect(names == ["Z", "a", "b", "é"])
        let path = "/v1/projects/p/databases/%28default%29/documents/u/1:listCollectionIds"
        #expect(scripted.requests == ["POST " + path, "POST " + path])
        #expect(try scripted.message(1)["pageToken"] == "more")
    }

    @Test("unsupported requests are rejected before sending")
    func refusals() async throws {
        let scripted = Scripted.google()
        var strict = ReadRequest(.query(DocumentQuery("a")))
        strict.isStrict = true
        let search = ReadRequest(.query(DocumentQuery("a").matching("word")))
        for request in [strict, search] {
            await expect(.unsupported) { _ = try await scripted.adapter.read(request) }
        }
        await expect(.unsupported) { _ = try await scripted.adapter.changes(ChangeRequest()) }
        let keel = try Scripted.keel { $0.capabilities = [] }
        let requests = [
            ReadRequest(.aggregate(DocumentQuery("a"), [.count()])), search,
            ReadRequest(.collections(under: nil)),
        ]
        for request in requests {
            await expect(.unsupported) { _ = try await keel.adapter.read(request) }
        }
        #expect(scripted.requests.isEmpty)
        #expect(keel.requests.isEmpty)
    }

    @Test(
        "a malformed reply is reported as an invalid reply",
        arguments: [
            "", "[", "{}", "null", #"[{"document": {"fields": {}}}]"#, #"[{"document": 3}]"#,
            #"[{"document": \#(document("a/1", #"{"n": {"integerValue": "x"}}"#))}]"#,
            #"[{"document": \#(document("a/1").replacing("databases", with: "bases"))}]"#,
        ]
    )
    func malformed(text: String) async {
        let scripted = Scripted.google([.json(text)])
        await expect(.invalidReply) {
            _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        }
    }

    @Test("a reply that lacks a document is reported as an invalid reply")
    func incomplete() async {
        let scripted = Scripted.google([.json("[]")])
        await expect(.invalidReply) {
            _ = try await scripted.adapter.read(ReadRequest(.documents(["a/1"])))
        }
    }

    @Test("a reply above the size limit is rejected")
    func tooLarge() async throws {
        let scripted = try Scripted.keel([.keel("[\(String(repeating: " ", count: 5000))]")]) {
            $0.maximumReplySize = 4000
        }
        await expect(.tooLarge) {
            _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        }
    }

    @Test("a server without Keel's extensions is not accepted as a Keel server")
    func stranger() async throws {
        let scripted = try Scripted.keel([.json("[]")])
        await expect(.invalidReply) {
            _ = try await scripted.adapter.read(ReadRequest(.query(DocumentQuery("a"))))
        }
    }
}
