import Foundation
import KeelCore
import KeelStorage
import Testing

@Suite("Typed collections")
struct DocumentCollectionTests {
    struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: String
        var text: String
        var stars = 0
    }

    struct Draft: Codable, Identifiable, Equatable, Sendable {
        @DocumentID var id: String?
        var text: String
    }

    struct Nameless: Codable, Sendable { var text: String }

    let storage = StorageClient(InMemoryStorageAdapter())
    var notes: DocumentCollection<Note> { storage.collection("notes", as: Note.self) }

    @Test("What is saved is found, by id and by query, until it is deleted")
    func savesAndFinds() async throws {
        let note = Note(id: "1", text: "Hello", stars: 3)
        try await notes.save(note)
        #expect(try await notes.find("1") == note)
        #expect(try await notes.get("1") == note)
        #expect(try await notes.query { $0.where(.greater("stars", 2)) } == [note])
        #expect(try await notes.first() == note)
        #expect(try await notes.count() == 1)
        try await notes.delete("1")
        #expect(try await notes.find("1") == nil)
        #expect(try await notes.findAll().isEmpty)
        let error = await #expect(throws: StorageError.self) { try await notes.get("1") }
        #expect(error?.code == .documentNotFound)
        #expect(error?.resource == "notes/1")
    }

    @Test("A document id that is nil gets a new one, and is not stored as a field")
    func fillsDocumentIDs() async throws {
        let drafts = storage.collection("drafts", as: Draft.self)
        let path = try await drafts.save(Draft(text: "Hello"))
        let found = try #require(try await drafts.findAll().first)
        #expect(found.id == path.id)
        #expect(try await storage.getDocument(path).fields() == ["text": "Hello"])
    }

    @Test("A value without an id is refused with advice, and can be added")
    func refusesNameless() async throws {
        let values = storage.collection("values", as: Nameless.self)
        let error = await #expect(throws: StorageError.self) {
            try await values.save(Nameless(text: "Hello"))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("add(_:)") == true)
        let path = try await values.add(Nameless(text: "Hello"))
        #expect(path.id.count == 20)
    }

    @Test("Many values are saved and deleted across the limit of a batch")
    func savesMany() async throws {
        let many = (0..<1_201).map { Note(id: "\($0)", text: "note \($0)", stars: $0 % 5) }
        #expect(try await notes.saveAll(many).count == many.count)
        #expect(try await notes.count() == many.count)
        #expect(try await notes.deleteAll { $0.where(.equal("stars", 0)) } == 241)
        #expect(try await notes.count() == many.count - 241)
    }

    @Test("A document of another form is named by the error, its contents are not")
    func namesBadDocument() async throws {
        try await storage.setDocument("notes/bad", ["text": 42, "id": "secret"])
        let error = await #expect(throws: StorageError.self) { try await notes.findAll() }
        #expect(error?.code == .decodingFailed)
        #expect(error?.description.contains("notes/bad") == true)
        #expect(error.map { "\($0)" }?.contains("secret") == false)
    }

    @Test("A live collection shows the items and follows changes on the main actor")
    @MainActor
    func liveCollection() async throws {
        try await notes.save(Note(id: "1", text: "Hello"))
        let live = LiveCollection(notes) { $0.order(by: "text") }
        #expect(live.phase == .loading)
        let running = Task { await live.run() }
        while live.items.isEmpty { await Task.yield() }
        try await notes.save(Note(id: "2", text: "Again"))
        while live.items.count < 2 { await Task.yield() }
        #expect(live.items.map(\.id) == ["2", "1"])
        #expect(live.phase == .ready)
        running.cancel()
        await running.value
        #expect(live.items.count == 2)
    }

    @Test("A live document shows that it is missing, and then its value")
    @MainActor
    func liveDocument() async throws {
        let live = LiveDocument(notes, id: "1")
        let running = Task { await live.run() }
        while live.phase == .loading { await Task.yield() }
        #expect(live.value == nil)
        try await notes.save(Note(id: "1", text: "Hello"))
        while live.value == nil { await Task.yield() }
        #expect(live.value?.text == "Hello")
        running.cancel()
        await running.value
    }

    @Test("A live collection shows why it cannot be read")
    @MainActor
    func liveCollectionFails() async throws {
        let broken = StorageClient(UnavailableStorageAdapter(StorageError(.corrupted, "broken")))
        let live = LiveCollection(broken.collection("notes", as: Note.self))
        await live.run()
        #expect(live.phase == .failed)
        #expect(live.error?.code == .corrupted)
    }
}
