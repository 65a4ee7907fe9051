import Foundation
import Keel
import KeelDependencies
import KeelDependenciesTesting
import KeelStorageAdapting
import Testing

struct Note: Codable, Identifiable, Sendable {
    var id: String
    var text: String
}

struct Notes {
    @Dependency(\.storage) var storage

    func add(_ text: String) async throws {
        try await storage.collection("notes", as: Note.self).save(
            Note(id: UUID().uuidString, text: text)
        )
    }
}

@Suite("The first minutes")
struct FirstMinutesTests {
    @Test("A store in a file saves, finds and shows a value")
    func storage() async throws {
        let store = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
        let notes = store.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello"))
        for try await snapshot in notes.listen() {
            #expect(snapshot.items.map(\.text) == ["Hello"])
            break
        }
        // Not `catch let error as StorageError`: the error has that type already, and the compiler of
        // Swift 6.3.1 crashes on such a cast in a function that also iterates snapshots.
        do throws(StorageError) {
            _ = try await notes.get("2")
            Issue.record("there is no such note")
        } catch {
            #expect(error.code == .documentNotFound)
        }
    }

    @Test(
        "A dependency has the value that the test sets",
        .dependencies {
            $0.storage = StorageClient(InMemoryStorageAdapter())
        }
    )
    func dependencies() async throws {
        let notes = Notes()
        try await notes.add("Hello")
        #expect(try await notes.storage.count(DocumentQuery("notes")) == 1)
    }

    @Test("The client works with an adapter written outside Keel")
    func ownAdapter() async throws {
        let store = StorageClient(Outsider())
        try await store.setDocument("notes/1", ["text": "Hello"])
        #expect(try await store.getDocument("notes/1")["text"]?.stringValue == "Hello")
        await #expect(throws: StorageError.self) {
            try await store.transaction { _ in }
        }
    }
}

struct Outsider: StorageAdapter {
    let base = InMemoryStorageAdapter()
    var capabilities: StorageCapabilities { [] }
    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await base.prepare(schema)
    }
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
