import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

@Suite("Change streams of queries")
struct ChangeStreamQueryTests {
    private let adapter = InMemoryStorageAdapter()

    private var store: StorageClient { StorageClient(adapter) }

    private static let owned = Result {
        try ChangeService.query("notes", "owner", "EQUAL", #"{"stringValue":"ada"}"#)
    }

    private func service(
        _ change: (inout ChangeService.Configuration) -> Void = { _ in }
    ) -> ChangeService {
        ChangeService(adapter, change)
    }

    private func set(_ id: String, owner: String) async throws {
        try await store.setDocument(DocumentPath("notes/\(id)"), ["owner": .string(owner)])
    }

    @Test("A listener is not told of other users’ documents")
    func others() async throws {
        let service = service()
        var stream = try await service.stream(try Self.owned.get())
        #expect(try await stream.names(1) == ["checkpoint"])
        try await waitUntil { service.narrowCount == 1 }
        for number in 0..<1_010 { try await set("bob-\(number)", owner: "bob") }
        try await set("1", owner: "ada")
        #expect(try await stream.names(2) == ["change notes/1", "checkpoint"])
    }

    @Test(
        "A document that leaves the result is told once, whether the stream told of it or not",
        arguments: ["EQUAL", "LESS_THAN_OR_EQUAL"]
    )
    func leaving(comparison: String) async throws {
        let service = service()
        let query = try ChangeService.query("notes", "owner", comparison, #"{"stringValue":"ada"}"#)
        try await set("1", owner: "ada")
        let first = try await service.page(query)
        let cursor = try #require(first["next"]?.text)
        var stream = try await service.stream("cursor=\(cursor)&\(query)")
        #expect(try await stream.names(1) == ["checkpoint"])
        try await waitUntil { service.narrowCount == 1 }
        try await set("1", owner: "bob")
        let left = try #require(try await stream.next())
        #expect(left.data == #"{"path":"notes/1","left":true}"#)
        #expect(try await stream.names(1) == ["checkpoint"])
        try await set("1", owner: "carl")
        try await set("2", owner: "ada")
        #expect(try await stream.names(2) == ["change notes/2", "checkpoint"])
        try await store.deleteDocument("notes/1")
        try await store.deleteDocument("notes/2")
        #expect(try await stream.names(2) == ["change notes/2", "checkpoint"])
    }

    @Test("A listener is notified of a document that was in the result only between two pages")
    func passing() async throws {
        let service = service()
        var stream = try await service.stream(try Self.owned.get())
        #expect(try await stream.names(1) == ["checkpoint"])
        try await waitUntil { service.narrowCount == 1 }
        let batches = try ["ada", "bob"].map { owner in
            WriteBatch([try DocumentWrite.set(["owner": .string(owner)], at: "notes/1")])
        }
        for result in try await adapter.commit(batches) { _ = try result.get() }
        let left = try #require(try await stream.next())
        #expect(left.data == #"{"path":"notes/1","left":true}"#)
    }

    @Test("A query with too many documents receives every change in its collection")
    func tooMany() async throws {
        for id in ["1", "2"] { try await set(id, owner: "ada") }
        let service = service { $0.mostHeldDocuments = 1 }
        var stream = try await service.stream(try Self.owned.get())
        #expect(try await stream.names(3).last == "checkpoint")
        try await set("3", owner: "bob")
        #expect(try await stream.names(2) == ["change notes/3", "checkpoint"])
    }

    @Test(
        "A query that comes to have too many documents is told of every change again",
        arguments: ["of one query", "of all queries"]
    )
    func growth(limit: String) async throws {
        let service = service { configuration in
            if limit == "of one query" {
                configuration.mostHeldDocuments = 1
            } else {
                configuration.maximumHeldDocuments = 1
            }
        }
        var stream = try await service.stream(try Self.owned.get())
        #expect(try await stream.names(1) == ["checkpoint"])
        try await waitUntil { service.narrowCount == 1 }
        for id in ["1", "2"] {
            try await set(id, owner: "ada")
            #expect(try await stream.names(2) == ["change notes/\(id)", "checkpoint"])
        }
        #expect(service.narrowCount == 0)
        try await set("3", owner: "bob")
        #expect(try await stream.names(2) == ["change notes/3", "checkpoint"])
    }

    @Test("A whole collection is reported completely, in addition to a query")
    func mixed() async throws {
        let service = service()
        var stream = try await service.stream("collection=tags&\(try Self.owned.get())")
        #expect(try await stream.names(1) == ["checkpoint"])
        try await waitUntil { service.narrowCount == 1 }
        try await set("1", owner: "bob")
        try await store.setDocument("tags/1", ["owner": "bob"])
        #expect(try await stream.names(2) == ["change tags/1", "checkpoint"])
        try await store.deleteDocument("tags/1")
        #expect(try await stream.names(2) == ["change tags/1", "checkpoint"])
    }
}
