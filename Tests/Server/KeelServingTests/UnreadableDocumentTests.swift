import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Documents that the server's store cannot read")
struct UnreadableDocumentTests {
    private static let count = 60
    private static let damaged = [0, 7, 8, 30, 58, 59]

    private static func id(_ number: Int) -> String { "\(100 + number)" }

    private static func path(_ number: Int) -> DocumentPath { DocumentPath("a/\(id(number))") }

    private static let readable = (0..<count).filter { !damaged.contains($0) }.map(id)

    /// Returns the ids of the documents in a member of a reply.
    private func ids(_ json: [FirestoreJSON]?, _ part: String?) -> [String] {
        (json ?? []).compactMap { element in
            let document = part.map { element[$0] } ?? element
            return document?["name"]?.text?.split(separator: "/").last.map(String.init)
        }
    }

    private static func filled(
        history: Duration? = nil,
        padding: Int = 0
    ) async throws -> InMemoryStorageAdapter {
        let store = InMemoryStorageAdapter(history: history)
        let text = DocumentValue.string(String(repeating: "x", count: padding))
        let batches = (0..<count).map { number in
            let body = DocumentBody(["n": .integer(Int64(number)), "text": text])
            return WriteBatch([DocumentWrite(path(number), .set(body))])
        }
        for result in try await store.commit(batches) { _ = try result.get() }
        return store
    }

    /// Returns a server with pages of about ten documents.
    private static func served(
        fillsUp: Bool,
        history: Duration? = nil,
        damaged: [Int] = damaged
    ) async throws -> Served {
        let store = DamagedStore(
            upstream: try await filled(history: history),
            damaged: Set(damaged.map(path)),
            fillsUp: fillsUp
        )
        return Served(store) { ($0.firstPageBytes, $0.pageBytes) = (4_300, 4_300) }
    }

    private static func query(_ more: String = "", _ addition: String = "") -> String {
        #"{"structuredQuery":{"from":[{"collectionId":"a"}]\#(more)}\#(addition)}"#
    }

    private static let asking = #","keel":{"unreadable":true}"#

    @Test("Unreadable documents are named next to the others on request", arguments: [true, false])
    func asked(fillsUp: Bool) async throws {
        for history in [nil, Duration.seconds(60)] {
            let served = try await Self.served(fillsUp: fillsUp, history: history)
            let answer = try await served.send(
                .post,
                ":runQuery",
                Self.query("", Self.asking),
                extended: true
            )
            #expect(answer.status == 200)
            #expect(ids(answer.json.elements, "document") == Self.readable)
            let named = answer.json.elements?.last?["keel"]?["unreadable"]?.elements
            #expect(ids(named, nil) == Self.damaged.map(Self.id))
            #expect(named?.allSatisfy { $0["code"] == "corrupted" } == true)
        }
    }

    @Test(
        "Limits and offsets count readable documents, and orders are kept",
        arguments: [true, false]
    )
    func clauses(fillsUp: Bool) async throws {
        let served = try await Self.served(fillsUp: fillsUp)
        let down = #","orderBy":[{"field":{"fieldPath":"n"},"direction":"DESCENDING"}]"#
        for (clauses, expected) in [
            (#","limit":40"#, Self.readable.prefix(40)),
            (#","limit":9,"offset":20"#, Self.readable.dropFirst(20).prefix(9)),
            (down + #","limit":30"#, Self.readable.reversed()[...].prefix(30)),
            (#","limit":1"#, Self.readable.prefix(1)),
        ] as [(String, ArraySlice<String>)] {
            let answer = try await served.send(
                .post,
                ":runQuery",
                Self.query(clauses, Self.asking),
                extended: true
            )
            #expect(ids(answer.json.elements, "document") == Array(expected), "\(clauses)")
        }
    }

    @Test("Unreadable documents are named up to a limit")
    func all() async throws {
        let served = try await Self.served(fillsUp: false, damaged: Array(0..<Self.count))
        let answer = try await served.send(
            .post,
            ":runQuery",
            Self.query("", Self.asking),
            extended: true
        )
        #expect(ids(answer.json.elements, "document").isEmpty)
        let named = answer.json.elements?.last?["keel"]?["unreadable"]?.elements
        #expect(named?.count == Self.count)
    }

    @Test(
        "Other clients get an error that names them in addition to the readable documents",
        arguments: [true, false]
    )
    func others(extended: Bool) async throws {
        let served = try await Self.served(fillsUp: true)
        let names = (0..<Self.count).map { "\"\(Served.name("a/\(Self.id($0))"))\"" }
        let batch = #"{"documents":[\#(names.joined(separator: ","))]}"#
        for (place, body, part) in [
            (":runQuery", Self.query(), "document"), (":batchGet", batch, "found"),
        ] {
            let answer = try await served.send(.post, place, body, extended: extended)
            #expect(answer.status == 500)
            let error = try #require(answer.json.elements?.first?["error"])
            #expect(error["status"] == "DATA_LOSS")
            for number in Self.damaged {
                #expect(error["message"]?.text?.contains("a/\(Self.id(number))") == true)
            }
            #expect(ids(answer.json.elements, part) == Self.readable)
            #expect(answer.json.elements?.contains { $0["missing"] != nil } == false)
        }
        let listing = try await served.send(.get, "/a?pageSize=50", extended: extended)
        #expect(listing.status == 500)
        #expect(listing.error == "DATA_LOSS")
        #expect(ids(listing.json["documents"]?.elements, nil) == Array(Self.readable.prefix(50)))
        #expect(listing.json["nextPageToken"]?.text != nil)
        let one = try await served.send(.get, "/a/\(Self.id(0))", extended: extended)
        #expect(one.error == "DATA_LOSS")
    }

    @Test("A listing distinguishes missing from unreadable documents")
    func missing() async throws {
        let served = try await Self.served(fillsUp: true)
        try await served.set("a/000/b/1", n: 1)
        try await served.set("a/\(Self.id(0))/b/1", n: 1)
        let answer = try await served.send(.get, "/a?showMissing=true&pageSize=3")
        #expect(ids(answer.json["documents"]?.elements, nil) == ["000", "101", "102"])
        #expect(answer.error == "DATA_LOSS")
    }

    @Test("A long response ends with the error, and is truncated for plain clients")
    func long() async throws {
        let store = DamagedStore(
            upstream: try await Self.filled(padding: 10_000),
            damaged: Set(Self.damaged.map(Self.path)),
            fillsUp: true
        )
        for isExtended in [true, false] {
            var fields: HTTPFields = [.contentType: "application/json"]
            if isExtended { fields[try #require(HTTPField.Name("Keel-Protocol"))] = "1" }
            let head = HTTPRequest("http://localhost\(Served.root):runQuery", .post, fields)
            let call = HTTPCall(head, body: HTTPBody(Array(Self.query().utf8)))
            let reply = await Served(store).server.respond(to: call)
            #expect(reply.head.status == .ok)
            var bytes: [UInt8] = []
            var wasCut = false
            do {
                for try await piece in reply.body { bytes += piece }
            } catch {
                wasCut = true
            }
            #expect(wasCut == !isExtended)
            let json = try FirestoreJSON(parsing: bytes)
            #expect(ids(json.elements, "document") == Self.readable)
            #expect(json.elements?.last?["error"]?["status"] == "DATA_LOSS")
        }
    }

    @Test("A transactional query over unreadable documents fails")
    func whole() async throws {
        let served = try await Self.served(fillsUp: true)
        let token = try await served.begin()
        let query = Self.query("", #","transaction":"\#(token)""#)
        let answer = try await served.send(.post, ":runQuery", query)
        #expect(answer.status == 500)
        #expect(answer.error == "DATA_LOSS")
    }

    @Test("A document with an invalid body is named")
    func body() async throws {
        let store = try await Self.filled()
        let damaged = Document(
            path: Self.path(7),
            body: DocumentBody(bytes: [0xA1, 0x61]),
            revision: Revision(number: 1),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 1)
        )
        let batch = WriteBatch([DocumentWrite(damaged.path, .replicate(damaged))])
        for result in try await store.commit([batch]) { _ = try result.get() }
        let served = Served(store)
        let readable = (0..<Self.count).filter { $0 != 7 }.map(Self.id)
        let answer = try await served.send(.post, ":runQuery", Self.query())
        #expect(answer.status == 500)
        #expect(ids(answer.json.elements, "document") == readable)
        let message = answer.json.elements?.first?["error"]?["message"]?.text
        #expect(message?.contains("a/107") == true)
        let listing = try await served.send(.get, "/a")
        #expect(ids(listing.json["documents"]?.elements, nil) == readable)
        #expect(listing.error == "DATA_LOSS")
    }

    @Test("Change pages and streams name them and send the others")
    func changes() async throws {
        let served = try await Self.served(fillsUp: true)
        let answer = try await served.send(.get, path: "/sync/all/changes?limit=1000")
        let changes = try #require(answer.json["changes"]?.elements)
        #expect(changes.filter { $0["unreadable"] != nil }.count == Self.damaged.count)
        #expect(changes.filter { $0["doc"] != nil }.count == Self.readable.count)
    }
}
