import Foundation
import Keel
import KeelDependencies
import KeelDependenciesTesting
import KeelServing
import KeelStorageAdapting
import KeelTestKit
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
    var stars = 0
}

@Suite("Coverage: storage and dependencies")
struct CoverageStorageExamples {
    private let storage = StorageClient(InMemoryStorageAdapter())

    @Test("Row 7", .dependencies { $0.storage = StorageClient(InMemoryStorageAdapter()) })
    func environments() async throws {
        @Dependency(\.storage) var storage
        try await storage.setDocument("notes/1", ["text": "Hello"])
        let keel = KeelConfiguration.preview()
        let preview = try keel.makeStorage()
        #expect(try await preview.findDocument("notes/1") == nil)
    }

    @Test("Row 17")
    func repository() async throws {
        let notes = storage.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello", stars: 4))
        let good = try await notes.query { try $0.where(#Predicate<Note> { $0.stars > 3 }) }
        #expect(good.map(\.id) == ["1"])
        try await notes.delete("1")
        #expect(try await notes.findAll().isEmpty)
    }

    @Test("Row 19")
    func retries() async throws {
        let flaky = InMemoryStorageAdapter().failing([.fail(.unavailable), .loseReply()])
        let storage = StorageClient(flaky.retrying(RetryPolicy(attempts: 3, baseDelay: .zero)))
        try await storage.setDocument("counters/1", ["visits": 1])
        #expect(try await storage.getDocument("counters/1")["visits"] == 1)
    }

    @Test("Row 22")
    func doubles() async throws {
        let adapter = InMemoryStorageAdapter().failing([.fail(.diskFull)]).recorded()
        let storage = StorageClient(adapter)
        let error = await #expect(throws: StorageError.self) {
            try await storage.setDocument("notes/1", ["text": "Hello"])
        }
        #expect(error?.code == .diskFull)
        #expect(adapter.calls.count == 1)
    }

    @Test("Row 26")
    func documents() async throws {
        try await storage.setDocument("notes/1", ["text": "Hello", "edits": 1])
        try await storage.updateDocument("notes/1", [.increment("edits", by: 1)])
        let found = try await storage.queryDocuments(
            DocumentQuery("notes").where(.equal("edits", 2))
        )
        #expect(found.map(\.id) == ["1"])
        try await storage.deleteDocument("notes/1")
        #expect(try await storage.findDocument("notes/1") == nil)
    }

    @Test("Row 26, listening")
    func listening() async throws {
        try await storage.setDocument("notes/1", ["text": "Hello"])
        for try await snapshot in storage.listenToCollection("notes") {
            #expect(snapshot.documents.map(\.id) == ["1"])
            break
        }
    }

    @Test("Row 27")
    func adapters() async throws {
        let address = try #require(URL(string: "http://127.0.0.1"))
        let server = StorageServer(adapter: InMemoryStorageAdapter())
        let firestore = FirestoreStorageAdapter(.keel(address), transport: HandlerTransport(server))
        for adapter in [firestore, InMemoryStorageAdapter()] as [any StorageAdapter] {
            let notes = StorageClient(adapter).collection("notes", as: Note.self)
            try await notes.save(Note(id: "1", text: "Hello"))
            #expect(try await notes.findAll().map(\.text) == ["Hello"])
        }
        server.shutDown()
    }

    @Test("Row 28")
    func registration() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await withDependencies {
            $0.storage = storage
        } operation: {
            @Dependency(\.storage) var injected
            try await injected.setDocument("notes/1", ["text": "Hello"])
        }
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
    }

    @Test("Row 29")
    func capabilities() async throws {
        let storage = StorageClient(LimitedAdapter())
        #expect(!storage.capabilities.contains(.transactions))
        let error = await #expect(throws: StorageError.self) {
            try await storage.transaction { _ in }
        }
        #expect(error?.code == .unsupported)
    }

    @Test("Row 30")
    func switching() async throws {
        let store = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
        let notes = store.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello"))
        #expect(try await notes.get("1").text == "Hello")
    }

    @Test("Row 32")
    func boundedWork() async throws {
        let ids = (1...20).map { "notes/\($0)" }
        let receipts = try await ids.concurrentMap(limit: 4) { id in
            try await storage.setDocument(DocumentPath(id), ["text": "Hello"])
        }
        #expect(receipts.count == 20)
    }
}

/// An adapter that only reads and writes.
private struct LimitedAdapter: StorageAdapter {
    let base = InMemoryStorageAdapter()
    var capabilities: StorageCapabilities { [] }
    func prepare(_ schema: StorageSchema) async throws(StorageError) {}
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await base.read(request)
    }
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await base.commit(batches)
    }
    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "there is no change log")
    }
}
