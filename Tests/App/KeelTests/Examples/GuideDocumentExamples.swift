import Foundation
import Keel
import Testing

@Suite("Guide: coming from Core Data")
struct GuideDocumentExamples {
    struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
        var stars = 0
        var folder: String?
    }

    private let storage = StorageClient(InMemoryStorageAdapter())

    @Test("The stack, a save and a fetch")
    func firstSteps() async throws {
        let storage = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
        let notes = storage.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello", stars: 4))
        let good = try await notes.query {
            try $0.where(#Predicate<Note> { $0.stars > 3 }).order(by: "text").limit(to: 20)
        }
        #expect(good.map(\.text) == ["Hello"])
        try await notes.delete("1")
        #expect(try await notes.count() == 0)
    }

    @Test("Relationships are ids")
    func relationships() async throws {
        let notes = storage.collection("notes", as: Note.self)
        try await notes.saveAll([
            Note(id: "1", text: "Milk", folder: "shopping"), Note(id: "2", text: "Call Lin"),
        ])
        let shopping = try await notes.query { $0.where(.equal("folder", "shopping")) }
        #expect(shopping.map(\.id) == ["1"])
    }

    @Test("All or nothing")
    func batches() async throws {
        try await storage.commit { batch in
            try batch.set("notes/1", ["text": "Milk"])
            try batch.set("folders/shopping", ["count": 1])
        }
        try await storage.transaction { transaction in
            let folder = try await transaction.getDocument("folders/shopping")
            guard folder["count"] == 1 else { return }
            try transaction.delete("notes/1")
            try transaction.update("folders/shopping", [.increment("count", by: -1)])
        }
        #expect(try await storage.getDocument("folders/shopping")["count"] == 0)
    }

    @Test("Results that follow the store")
    func following() async throws {
        let notes = storage.collection("notes", as: Note.self)
        try await notes.save(Note(id: "1", text: "Hello"))
        for try await snapshot in notes.listen({ $0.order(by: "text") }) {
            #expect(snapshot.items.map(\.id) == ["1"])
            break
        }
    }

    @Test("A new version of the model")
    func versions() async throws {
        let adapter = InMemoryStorageAdapter()
        try await StorageClient(adapter).setDocument("notes/1", ["id": "1", "title": "Hello"])
        let migrations = DocumentMigrations([
            DocumentMigration("notes", to: 1) { fields, _ in
                fields["text"] = fields["title"]
                fields["title"] = nil
                fields["stars"] = 0
            }
        ])
        let storage = StorageClient(adapter.migrating(migrations))
        let notes = storage.collection("notes", as: Note.self)
        #expect(try await notes.get("1") == Note(id: "1", text: "Hello"))
    }

    @Test("Indexes are declared, and a test finds what was forgotten")
    func indexes() async throws {
        let schema = StorageSchema(indexes: [
            IndexDefinition("notes", [.ascending("folder"), .descending("stars")])
        ])
        let storage = try KeelConfiguration.test(schema: schema).makeStorage()
        let notes = storage.collection("notes", as: Note.self)
        let error = await #expect(throws: StorageError.self) {
            try await notes.query { $0.where(.equal("text", "Milk")) }
        }
        #expect(error?.code == .indexRequired)
    }
}
