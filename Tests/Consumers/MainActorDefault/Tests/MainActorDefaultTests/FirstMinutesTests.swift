import Foundation
import Keel
import KeelDependencies
import KeelDependenciesTesting
import Testing

// `nonisolated`, because the type is decoded off the main actor.
nonisolated struct Note: Codable, Identifiable, Sendable {
    var id: String
    var text: String
}

final class NotesModel {
    let live: LiveCollection<Note>
    let notes: DocumentCollection<Note>

    init(storage: StorageClient) {
        notes = storage.collection("notes", as: Note.self)
        live = LiveCollection(notes) { $0.order(by: "text") }
    }

    func add(_ text: String) async throws {
        try await notes.save(Note(id: UUID().uuidString, text: text))
    }
}

struct FirstMinutesTests {
    @Test("A model on the main actor shows the stored values", .timeLimit(.minutes(1)))
    func model() async throws {
        let model = NotesModel(storage: StorageClient(try SQLiteStorageAdapter(at: .temporary())))
        let running = Task { await model.live.run() }
        try await model.add("Hello")
        // Bounded by the test's time limit, which cancels its task.
        while model.live.items.isEmpty, !Task.isCancelled { await Task.yield() }
        #expect(model.live.items.map(\.text) == ["Hello"])
        running.cancel()
        await running.value
    }

    @Test(
        "A dependency reaches the main actor",
        .dependencies {
            $0.storage = StorageClient(InMemoryStorageAdapter())
        }
    )
    func dependencies() async throws {
        @Dependency(\.storage) var storage
        try await storage.setDocument("notes/1", ["text": "Hello"])
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
    }
}
