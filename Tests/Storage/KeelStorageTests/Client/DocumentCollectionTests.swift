import Foundation
import KeelCore
import KeelStorage
import KeelTestKit
import Synchronization
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

    @Test("A saved value is found by id and query until it is deleted")
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

    @Test("A saved version has the update time of its document, also after the clock was wrong")
    func savedTimes() async throws {
        let now = Mutex(Timestamp(microseconds: 4_000_000_000_000_000))
        let storage = StorageClient(InMemoryStorageAdapter(now: { now.withLock { $0 } }))
        let notes = storage.collection("notes", as: Note.self)
        // The store's time follows the clock, and does not go back with it.
        try await storage.setDocument("others/1", [:])
        now.withLock { $0 = Timestamp(microseconds: 1_780_000_000_000_000) }
        try await notes.save(Note(id: "1", text: "Hello"))
        var note = try await notes.versioned.get("1")
        note.value.text = "Hello again"
        let saved = try await notes.save(note)
        let stored = try await notes.versioned.get("1")
        #expect(saved.updateTime == stored.updateTime)
        #expect(saved.updateTime > note.updateTime)
    }

    @Test("A nil document id is replaced by a new one and not stored as a field")
    func fillsDocumentIDs() async throws {
        let drafts = storage.collection("drafts", as: Draft.self)
        let path = try await drafts.save(Draft(text: "Hello"))
        let found = try #require(try await drafts.findAll().first)
        #expect(found.id == path.id)
        #expect(try await storage.getDocument(path).fields() == ["text": "Hello"])
    }

    @Test("A value whose id cannot become text is rejected with advice; only nil is replaced")
    func refusesOtherIDs() async throws {
        struct Place: Codable, Hashable, Sendable { var row = 1 }
        struct Seat: Codable, Identifiable, Sendable { var id: Place? }
        struct Number: Codable, Identifiable, Sendable { var id: Int64? }
        struct Copied: Codable, Identifiable, Sendable {
            @DocumentID var key: String?
            var id = Place()
        }
        let seats = storage.collection("seats", as: Seat.self)
        let error = await #expect(throws: StorageError.self) {
            try await seats.save(Seat(id: Place()))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("save(_:id:)") == true)
        let items = storage.collection("items", as: SharedItem.self)
        let other = await #expect(throws: StorageError.self) {
            try await items.save(SharedItem(text: "a"))
        }
        #expect(other?.code == .invalidArgument)
        #expect(try await items.count() == 0)

        try await seats.save(Seat(id: nil))
        #expect(try await seats.count() == 1)
        let numbers = storage.collection("numbers", as: Number.self)
        try await numbers.save(Number(id: nil))
        #expect(try await numbers.save(Number(id: 7)).id == "7")
        #expect(try await numbers.count() == 2)
        let copies = storage.collection("copies", as: Copied.self)
        try await copies.save(Copied())
        #expect(try await copies.count() == 1)
    }

    @Test("A value without an id is rejected with advice and can be added")
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

    @Test("Many values are saved and deleted in several batches")
    func savesMany() async throws {
        let many = (0..<1_201).map { Note(id: "\($0)", text: "note \($0)", stars: $0 % 5) }
        #expect(try await notes.saveAll(many).count == many.count)
        #expect(try await notes.count() == many.count)
        #expect(try await notes.deleteAll { $0.where(.equal("stars", 0)) } == 241)
        #expect(try await notes.count() == many.count - 241)
    }

    @Test("Values before a failed batch are stored, and the error reports their number")
    func savesManyInPart() async throws {
        let many = (0..<6_001).map { Note(id: "\($0)", text: "note \($0)", stars: 0) }
        let adapter = InMemoryStorageAdapter()
        let failing = adapter.failing([nil, .fail(.unavailable)])
        let notes = StorageClient(failing).collection("notes", as: Note.self)
        let error = await #expect(throws: StorageError.self) { try await notes.saveAll(many) }
        #expect(error?.code == .unavailable && error?.effect == .unknown)
        #expect(error?.message.contains("5000") == true)
        // No batch was tried after the failed one.
        #expect(failing.callCount == 2)
        let client = StorageClient(adapter)
        #expect(try await client.count(DocumentQuery("notes")) == 5_000)
        let first = StorageClient(adapter.failing([.fail(.unavailable)]))
        let none = await #expect(throws: StorageError.self) {
            try await first.collection("notes", as: Note.self).saveAll(many)
        }
        #expect(none?.effect == StorageError.Effect.none)
    }

    @Test("deleteAll keeps a document that no longer matches the query")
    func deletesWhatItFound() async throws {
        let adapter = InMemoryStorageAdapter()
        let client = StorageClient(adapter)
        for number in 0..<4 { try await client.setDocument("notes/\(number)", ["old": true]) }
        let meddling = MeddledStorageAdapter(
            adapter,
            beforeCommits: { number in
                guard number == 1 else { return }
                try await client.updateDocument("notes/1", [.set("old", to: false)])
                try await client.deleteDocument("notes/3")
            }
        )
        let notes = StorageClient(meddling).collection("notes", as: Note.self)
        #expect(try await notes.deleteAll { $0.where(.equal("old", true)) } == 2)
        #expect(try await client.queryDocuments(DocumentQuery("notes")).map(\.id) == ["1"])
    }

    @Test("deleteAll removes no more documents than its limit, also if some change meanwhile")
    func deletesUpToLimit() async throws {
        let adapter = InMemoryStorageAdapter()
        let client = StorageClient(adapter)
        let many = (0..<1_300).map { Note(id: "\($0)", text: "note", stars: $0) }
        try await client.collection("notes", as: Note.self).saveAll(many)
        let meddling = MeddledStorageAdapter(
            adapter,
            beforeCommits: { number in
                // In the second batch of the first call.
                guard number == 1 else { return }
                try await client.updateDocument("notes/550", [.set("text", to: "changed")])
            }
        )
        let notes = StorageClient(meddling).collection("notes", as: Note.self)
        #expect(try await notes.deleteAll { $0.order(by: "stars").limit(to: 600) } == 600)
        let left = try await client.collection("notes", as: Note.self)
            .query { $0.order(by: "stars") }
        #expect(left.map(\.stars) == Array(600..<1_300))
    }

    @Test("If deleteAll gives up, its error counts what earlier attempts have removed")
    func countsEarlierAttempts() async throws {
        let adapter = InMemoryStorageAdapter()
        let client = StorageClient(adapter)
        let many = (0..<600).map { Note(id: "\($0)", text: "note", stars: $0) }
        try await client.collection("notes", as: Note.self).saveAll(many)
        let meddling = MeddledStorageAdapter(
            adapter,
            beforeCommits: { number in
                try await client.updateDocument("notes/550", [.set("text", to: .integer(number))])
            }
        )
        var configuration = StorageClient.Configuration()
        configuration.transactions = .attempts(2)
        configuration.clock = ImmediateClock()
        let notes = StorageClient(meddling, configuration: configuration)
            .collection("notes", as: Note.self)
        let error = await #expect(throws: StorageError.self) {
            try await notes.deleteAll { $0.order(by: "stars") }
        }
        #expect(error?.code == .conflict && error?.effect == .unknown)
        #expect(error?.message.contains("500") == true)
    }

    @Test("A decoding error names the document but not its contents")
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
        try await waitUntil { !live.items.isEmpty }
        try await notes.save(Note(id: "2", text: "Again"))
        try await waitUntil { live.items.count >= 2 }
        #expect(live.items.map(\.id) == ["2", "1"])
        #expect(live.phase == .ready)
        running.cancel()
        await running.value
        #expect(live.items.count == 2)
    }

    @Test("Live collections and documents survive failures and undecodable documents")
    @MainActor
    func outlivesFailures() async throws {
        let adapter = InMemoryStorageAdapter()
        let faults: [StorageFault?] = [.fail(.unavailable), .fail(.timeout), .fail(.busy)]
        var configuration = StorageClient.Configuration()
        configuration.clock = ImmediateClock()
        let client = StorageClient(adapter.failing(faults), configuration: configuration)
        let notes = client.collection("notes", as: Note.self)
        let direct = StorageClient(adapter)
        let (live, one) = (LiveCollection(notes), LiveDocument(notes, id: "bad"))
        let running = [Task { await live.run() }, Task { await one.run() }]
        try await waitUntil { live.phase == .ready && one.phase == .ready }
        try await direct.collection("notes", as: Note.self).save(Note(id: "a", text: "Hello"))
        try await direct.setDocument("notes/bad", ["text": 42])
        try await waitUntil { !live.failures.isEmpty && one.phase == .failed }
        #expect(live.items.map(\.id) == ["a"] && live.failures.map(\.path) == ["notes/bad"])
        #expect(live.phase == .ready && one.error?.code == .decodingFailed)
        try await direct.collection("notes", as: Note.self).save(Note(id: "bad", text: "Mended"))
        try await waitUntil { live.items.count == 2 && one.phase == .ready }
        #expect(live.failures.isEmpty && one.error == nil && one.value?.text == "Mended")
        for task in running { task.cancel() }
        for task in running { await task.value }
    }

    @Test("A live document shows that it is missing and later its value")
    @MainActor
    func liveDocument() async throws {
        let live = LiveDocument(notes, id: "1")
        let running = Task { await live.run() }
        try await waitUntil { live.phase != .loading }
        #expect(live.value == nil)
        try await notes.save(Note(id: "1", text: "Hello"))
        try await waitUntil { live.value != nil }
        #expect(live.value?.text == "Hello")
        running.cancel()
        await running.value
    }
}

/// Its id is its identity in memory.
private final class SharedItem: Codable, Identifiable, Sendable {
    let text: String

    init(text: String) { self.text = text }
}
