import Foundation
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@Suite("Change pages")
struct ChangePageReplyTests {
    private let adapter = InMemoryStorageAdapter()
    private let clock = TestClock()

    private var store: StorageClient { StorageClient(adapter) }

    private func service() -> ChangeService {
        ChangeService(adapter, on: clock) { $0.makeEpoch = { "first" } }
    }

    @Test("Pages without a cursor return every document and then the changes")
    func copies() async throws {
        let service = service()
        for id in ["1", "2", "3"] { try await store.setDocument("a/\(id)", ["n": 1]) }
        var page = try await service.page("limit=2")
        #expect(page["complete"] == false)
        var paths = page.paths
        while page["complete"] == false {
            let next = try #require(page["next"]?.text)
            page = try await service.page("limit=2&cursor=\(next)")
            paths += page.paths
        }
        #expect(paths == ["a/1", "a/2", "a/3"])
        let receipt = try await store.deleteDocument("a/2")
        let next = try #require(page["next"]?.text)
        page = try await service.page("cursor=\(next)")
        let change = try #require(page["changes"]?.elements?.first)
        #expect(change["deleted"] == true)
        let time = change["deleteTime"]?.text.flatMap(FirestoreTime.time)
        #expect(time != nil && time == receipt.outcomes.first?.updateTime)
        #expect(page.paths == ["a/2"])
    }

    @Test("The store receives the reader's name with a client prefix")
    func reader() async throws {
        let requests = Mutex<[ChangeReader?]>([])
        let watched = ReaderWatch(adapter) { reader in requests.withLock { $0.append(reader) } }
        let service = ChangeService(adapter: watched, configuration: .init())
        _ = try await service.page("")
        _ = try await service.page("reader=keel.server")
        _ = try await service.page("reader=a&lifetime=0")
        let expected = [
            nil, ChangeReader("client/keel.server"), ChangeReader("client/a", lifetime: .zero),
        ]
        #expect(requests.withLock { $0 } == expected)
        // Readers of two users, who gave them the same name.
        for id in ["ann", "bob"] {
            try await StorageContext().of(StoragePrincipal(id: id)).bind {
                _ = try await service.page("reader=a")
            }
        }
        let names = requests.withLock { $0.suffix(2).map { $0?.name } }
        #expect(Set(names).union(["client/a"]).count == 3)
        let long = String(repeating: "x", count: 101)
        for query in ["reader=", "reader=\(long)", "reader=a&lifetime=-1", "reader=a&reader=b"] {
            #expect(try await service.ask("changes?\(query)").head.status == .badRequest)
        }
    }

    @Test("Each server's streams read as a reader of their own, for which the store keeps changes")
    func serverReader() async throws {
        let recorded = adapter.recorded()
        for count in 1...2 {
            let service = ChangeService(adapter: recorded, configuration: .init())
            var stream = try await service.stream()
            #expect(try await stream.names(1) == ["checkpoint"])
            // A listener's own requests have no reader.
            try await waitUntil {
                let names = recorded.calls.compactMap { call in
                    if case .changes(let request) = call { request.reader?.name } else { nil }
                }
                return Set(names.filter { $0.hasPrefix("keel.server.sync.") }).count == count
            }
            // The last stream of a service ends its reader.
            _ = stream
        }
    }

    @Test("A document is returned in Firestore's format under the requested database name")
    func documents() async throws {
        let receipt = try await store.setDocument("a/1", ["n": 1])
        let database = "projects/p/databases/d"
        let page = try await service().page("database=projects%2Fp%2Fdatabases%2Fd")
        let change = try #require(page["changes"]?.elements?.first)
        let decoding = FirestoreDecoding(database: database, isExtended: true)
        let document = try decoding.document(try #require(change["doc"]))
        #expect(document == (try await store.getDocument("a/1")))
        #expect(change["rev"]?.text == receipt.revision.map { "\($0)" })
        #expect(page["epoch"] == "first")
    }

    @Test("A damaged document is named, and the others are returned")
    func unreadable() async throws {
        let damaged = Document(
            path: "a/2",
            body: DocumentBody(bytes: [0xFF]),
            revision: Revision(number: 1),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 1)
        )
        let batch = WriteBatch([DocumentWrite("a/2", .replicate(damaged))])
        for result in try await adapter.commit([batch]) { _ = try result.get() }
        for id in ["1", "3"] { try await store.setDocument("a/\(id)", ["n": 1]) }
        let page = try await service().page("")
        #expect(page.paths == ["a/1", "a/2", "a/3"])
        let changes = try #require(page["changes"]?.elements)
        #expect(changes[1]["unreadable"]?["code"]?.text == "corrupted")
        #expect(changes[0]["doc"] != nil && changes[1]["doc"] == nil && changes[2]["doc"] != nil)
    }

    @Test("A page can be restricted to collections, even with unusual names")
    func collections() async throws {
        for path: DocumentPath in ["a/1", "b c/1", "é+&/1", "a/1/d/1"] {
            try await store.setDocument(path, ["n": 1])
        }
        let service = service()
        let some = try await service.page("collection=b+c&collection=a%2F1%2Fd")
        #expect(Set(some.paths) == ["b c/1", "a/1/d/1"])
        #expect(try await service.page("collection=%C3%A9%2B%26").paths == ["é+&/1"])
    }

    @Test("A page can be restricted to documents, groups and queries in combination")
    func interests() async throws {
        for (path, number) in [("a/1", 1), ("a/2", 2), ("b/1", 1), ("a/1/g/1", 1), ("c/1/g/2", 9)] {
            try await store.setDocument(DocumentPath(path), ["n": .integer(Int64(number))])
        }
        let service = service()
        #expect(try await service.page("document=a%2F2&document=x%2F1").paths == ["a/2"])
        #expect(Set(try await service.page("group=g").paths) == ["a/1/g/1", "c/1/g/2"])
        let several = try await service.page("document=a%2F2&group=g&collection=b")
        #expect(Set(several.paths) == ["a/2", "b/1", "a/1/g/1", "c/1/g/2"])
        let filter = #""where":{"fieldFilter":{"field":{"fieldPath":"n"},"op":"GREATER_THAN","#
        let value = #""value":{"integerValue":"1"}}}"#
        let inGroup =
            #"{"structuredQuery":{"from":[{"collectionId":"g","allDescendants":true}],"#
            + filter + value + "}}"
        let encoded = try #require(
            inGroup.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        )
        let one = #"{"integerValue":"1"}"#
        let inCollection = try ChangeService.query("a", "n", "GREATER_THAN", one)
        let query = "\(inCollection)&query=\(encoded)"
        let page = try await service.page(query)
        #expect(Set(page.paths) == ["a/2", "c/1/g/2"])
        try await store.setDocument("a/2", ["n": 0])
        try await store.setDocument("a/1", ["n": 0])
        try await store.setDocument("b/1", ["n": 0])
        let next = try #require(page["next"]?.text)
        let left = try await service.page("cursor=\(next)&\(query)")
        #expect(left.paths == ["a/2", "a/1"])
        #expect(left["changes"]?.elements?.allSatisfy { $0["left"] == true } == true)
        var stream = try await service.stream("cursor=\(next)&\(query)")
        #expect(try await stream.names(upTo: "checkpoint") == ["change a/2", "change a/1"])
        try await store.setDocument("b/1", ["n": 7])
        try await store.setDocument("a/1", ["n": 7])
        #expect(try await stream.names(upTo: "checkpoint") == ["change a/1"])
        try await store.setDocument("a/1", ["n": 0.5])
        let event = try #require(try await stream.next())
        #expect(event.data == #"{"path":"a/1","left":true}"#)
    }

    @Test("A client receives the origin and acknowledgment of its own writes")
    func origins() async throws {
        let service = service()
        let first = try await service.page("client=phone")
        #expect(first["acknowledged"] == nil)
        let next = try #require(first["next"]?.text)
        var stream = try await service.stream("cursor=\(next)&client=phone&document=a%2F1")
        _ = try await stream.names(upTo: "checkpoint")
        for (number, path) in [(Int64(16), DocumentPath("a/1")), (17, "b/1")] {
            let write = try DocumentWrite.set(["n": .integer(number)], at: path)
            let origin = ChangeOrigin(client: "phone", mutation: number)
            _ = try await adapter.commit([WriteBatch([write], origin: origin)])
        }
        try await store.setDocument("a/2", ["n": 1])
        let page = try await service.page("cursor=\(next)&client=phone&client=tablet")
        let origin: FirestoreJSON = ["client": "phone", "mutation": "16"]
        #expect(page["changes"]?.elements?.first?["origin"] == origin)
        #expect(page["changes"]?.elements?.last?["origin"] == nil)
        #expect(page["acknowledged"] == ["phone": "17"])
        // The second mutation is outside of the stream's scope.
        var acknowledged: String?
        while acknowledged != "17", let event = try await stream.next() {
            if event.type == "change" {
                #expect(event.data.contains(#""origin":{"client":"phone""#))
            }
            let json = try FirestoreJSON(parsing: event.data.utf8)
            acknowledged = json["acknowledged"]?["phone"]?.text ?? acknowledged
        }
    }

    @Test("Large documents result in short pages")
    func large() async throws {
        let text = DocumentValue.string(String(repeating: "x", count: 1_000))
        for id in ["1", "2", "3", "4", "5"] { try await store.setDocument("a/\(id)", ["s": text]) }
        var configuration = ChangeService.Configuration()
        (configuration.mostPageBytes, configuration.streamPageBytes) = (2_500, 2_500)
        let service = ChangeService(adapter: adapter, configuration: configuration)
        let page = try await service.page("collection=a")
        #expect(page.paths == ["a/1", "a/2"])
        #expect(page["complete"] == false)
        var stream = try await service.stream("collection=a")
        #expect(try await stream.names(upTo: "progress") == ["change a/1", "change a/2"])
        #expect(Set(try await stream.names(upTo: "checkpoint")).count == 4)
    }

    @Test("The server's own records are never returned")
    func reserved() async throws {
        let own = DocumentWrite("__keel_sync__/1", .set(DocumentBody(["n": 1])))
        _ = try await adapter.commit([WriteBatch([own])])
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await service().page().paths == ["a/1"])
    }

    @Test("The epoch is stored in the store")
    func epoch() async throws {
        _ = try await service().page()
        let other = try await ChangeService(adapter: adapter).page()
        #expect(other["epoch"] == "first")
    }

    @Test(
        "Changes can be read while a store without an epoch is read-only or full",
        arguments: [StorageError.Code.readOnly, .diskFull]
    )
    func missingEpoch(code: StorageError.Code) async throws {
        try await store.setDocument("a/1", ["n": 1])
        let refusing = adapter.failing([nil, .fail(code)])
        let service = ChangeService(adapter: refusing)
        let page = try await service.page()
        #expect(page.paths == ["a/1"])
        #expect(page["epoch"] == "")
        let later = try await service.page()
        #expect(later["epoch"]?.text?.isEmpty == false)
    }

    @Test(
        "Invalid parameters are rejected",
        arguments: [
            "cursor=%21", "limit=0", "limit=1001", "limit=x", "limit=1&limit=2", "wait=61",
            "wait=-1", "collection=a%2Fb", "collection=", "database=x", "content=all",
            "cursor=%ff", "cursor=%4", "document=a", "document=", "group=a%2Fb%2Fc", "group=",
            "query=x", "query=%7B%7D", "query=%5B%5D", "client=",
        ]
    )
    func malformed(query: String) async throws {
        let reply = try await service().ask("changes?\(query)")
        #expect(reply.head.status == .badRequest)
        let stream = try await service().ask("events?\(query)")
        #expect(stream.head.status == .badRequest)
    }

    @Test("More than a hundred interests are rejected")
    func tooMany() async throws {
        let query = (0...100).map { $0 % 2 == 0 ? "collection=c\($0)" : "document=d%2F\($0)" }
            .joined(separator: "&")
        #expect(try await service().ask("changes?\(query)").head.status == .badRequest)
    }

    @Test("Other scopes are not found")
    func scopes() async throws {
        #expect(try await service().ask("/sync/mine/changes").head.status == .notFound)
        #expect(try await service().ask("/sync/mine/events").head.status == .notFound)
    }

    @Test("A foreign cursor is answered as gone")
    func expired() async throws {
        let reply = try await service().ask("changes?cursor=")
        #expect(reply.head.status == .gone)
        #expect(try await service().ask("changes?cursor=AAAA").head.status == .gone)
    }

    @Test("An unavailable store is reported with a retry delay")
    func unavailable() async throws {
        let failing = UnavailableStorageAdapter(StorageError(.busy, "the file is locked"))
        let service = ChangeService(adapter: failing)
        for path in ["changes", "events"] {
            let reply = try await service.ask(path)
            #expect(reply.head.status == .serviceUnavailable)
            #expect(reply.head.headerFields[.retryAfter] == "1")
        }
        #expect(service.listenerCount == 0)
    }
}

/// A store that reports the readers of its changes.
private struct ReaderWatch: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let told: @Sendable (ChangeReader?) -> Void

    init(_ upstream: InMemoryStorageAdapter, _ told: @escaping @Sendable (ChangeReader?) -> Void) {
        self.upstream = upstream
        self.told = told
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        told(request.reader)
        return try await upstream.changes(request)
    }
}
