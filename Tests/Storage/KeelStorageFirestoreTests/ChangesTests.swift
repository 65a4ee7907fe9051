import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Changes and schemas of a Keel server")
struct ChangesTests {
    @Test("a page contains current, removed and out-of-scope documents")
    func page() async throws {
        let doc =
            #"{"name": "projects/keel/databases/(default)/documents/a/1", "fields": {}, "#
            + #""createTime": "1970-01-01T00:00:01Z", "updateTime": "1970-01-01T00:00:02Z"}"#
        let scripted = try Scripted.keel([
            .keel(
                #"{"epoch": "e", "changes": [{"path": "a/1", "rev": "17", "doc": \#(doc)}, "#
                    + #"{"path": "a/2", "rev": "18", "deleted": true, "#
                    + #""deleteTime": "1970-01-01T00:00:03Z"}, {"path": "a/5", "rev": "19", "#
                    + #""deleted": true}, "#
                    + #"{"path": "a/3", "left": true}, {"path": "a/4", "unreadable": "#
                    + #"{"code": "corrupted", "message": "torn"}}], "next": "AQ", "complete": true}"#
            )
        ])
        let page = try await scripted.adapter.changes(ChangeRequest())
        let document = Document(
            path: "a/1",
            body: DocumentBody([:]),
            revision: Revision(number: 17),
            createTime: Timestamp(microseconds: 1_000_000),
            updateTime: Timestamp(microseconds: 2_000_000)
        )
        #expect(
            page.changes == [
                .current(document),
                .removed("a/2", Revision(number: 18), at: Timestamp(microseconds: 3_000_000)),
                .removed("a/5", Revision(number: 19)), .leftScope("a/3"),
                .unreadable(UnreadableDocument("a/4", StorageError(.corrupted, "torn"))),
            ]
        )
        #expect(page.next == ChangeCursor(bytes: [1]))
        #expect(page.isCaughtUp)
        let query = "database=projects%2Fkeel%2Fdatabases%2F%28default%29&limit=500"
        #expect(scripted.requests == ["GET /sync/all/changes?" + query])
    }

    @Test("a request contains its reader within the server's limits, or is refused")
    func reader() async throws {
        let scripted = try Scripted.keel(Array(repeating: .keel(#"{"next": "AQ"}"#), count: 3))
        var request = ChangeRequest()
        for reader in [
            ChangeReader("keel.copy", lifetime: .seconds(60)),
            ChangeReader("x", lifetime: .seconds(86_400 * 365)),
            ChangeReader(String(repeating: "x", count: 101), lifetime: .zero),
        ] {
            request.reader = reader
            _ = try await scripted.adapter.changes(request)
        }
        for name in ["", String(repeating: "x", count: 101)] {
            request.reader = ChangeReader(name)
            let refused = request
            await expectError(StorageError.self, .invalidArgument) {
                try await scripted.adapter.changes(refused)
            }
        }
        #expect(scripted.transport.calls.count == 3)
        let queries = scripted.transport.calls.map { $0.head.path ?? "" }
        #expect(queries[0].hasSuffix("&reader=keel.copy&lifetime=60"))
        #expect(queries[1].hasSuffix("&reader=x&lifetime=2592000"))
        #expect(!queries[2].contains("reader"))
    }

    @Test("a request contains its cursor, limit and collections")
    func request() async throws {
        let scripted = try Scripted.keel([.keel(#"{"next": "AQ"}"#)])
        let request = ChangeRequest(
            after: ChangeCursor(bytes: [255, 239]),
            scope: .collections(["u/1/c", "a"]),
            limit: 5000
        )
        let page = try await scripted.adapter.changes(request)
        #expect(!page.isCaughtUp)
        let path = try #require(scripted.transport.calls.first?.head.path)
        let items = Set(path.split(separator: "?").last?.split(separator: "&") ?? [])
        #expect(
            items.isSuperset(of: [
                "cursor=_-8", "limit=1000", "collection=a", "collection=u%2F1%2Fc",
            ])
        )
    }

    @Test("more collections than a request can contain are filtered locally")
    func manyCollections() async throws {
        let changes = ["a1/x", "b/x"].map { #"{"path": "\#($0)", "rev": "1", "deleted": true}"# }
        let scripted = try Scripted.keel([
            .keel(#"{"changes": [\#(changes.joined(separator: ","))], "next": "AQ"}"#)
        ])
        let wanted = Set((0..<101).map { CollectionPath("a\($0)") })
        let request = ChangeRequest(scope: .collections(wanted))
        let page = try await scripted.adapter.changes(request)
        #expect(page.changes.map(\.path) == ["a1/x"])
        #expect(scripted.requests.first?.contains("collection=") == false)
    }

    @Test("a position unknown to the server has expired")
    func expired() async throws {
        let plain = ScriptedHTTPTransport.Answer.status(.gone)
        let scripted = try Scripted.keel([plain, .refusal(410, "OUT_OF_RANGE")])
        for _ in 0..<2 {
            await expect(.cursorExpired) { _ = try await scripted.adapter.changes(ChangeRequest()) }
        }
    }

    @Test("a server that refuses its client is the cause of the error")
    func refusal() async throws {
        let scripted = try Scripted.keel([.refusal(403, "PERMISSION_DENIED")])
        let error = await expect(.permissionDenied) {
            _ = try await scripted.adapter.changes(ChangeRequest())
        }
        #expect(error?.cause != nil)
    }

    @Test(
        "a malformed page is reported as an invalid reply",
        arguments: [
            "[]", "{}", #"{"next": "?"}"#, #"{"next": "AQ", "changes": [{"path": "a/1"}]}"#,
            #"{"next": "AQ", "changes": [{"rev": "1", "deleted": true}]}"#,
            #"{"next": "AQ", "changes": [{"path": "a", "rev": "1", "deleted": true}]}"#,
            #"{"next": "AQ", "changes": [{"path": "a/1", "rev": "x", "deleted": true}]}"#,
        ]
    )
    func malformed(text: String) async throws {
        let scripted = try Scripted.keel([.keel(text)])
        await expect(.invalidReply) { _ = try await scripted.adapter.changes(ChangeRequest()) }
    }

    @Test("a schema is sent only to a Keel server")
    func schema() async throws {
        let schema = StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])])
        let scripted = try Scripted.keel([.schema])
        try await scripted.adapter.prepare(schema)
        try await scripted.adapter.prepare(StorageSchema())
        #expect(scripted.requests == ["POST /keel/v1/schema"])
        #expect(try scripted.message(0)["indexes"]?.elements?.count == 1)
        let google = Scripted.google()
        try await google.adapter.prepare(schema)
        #expect(google.requests.isEmpty)
    }

    @Test("listeners use the event stream of a Keel server and the channel of Google's")
    func listening() throws {
        #expect(try Scripted.keel().adapter.listening == .eventStream)
        #expect(Scripted.google().adapter.listening == .watch)
        #expect(try Scripted.keel { $0.capabilities = [] }.adapter.listening == .polling)
    }
}
