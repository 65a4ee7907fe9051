import Foundation
import Keel
import KeelDependencies
import KeelTestKit
import Observation
import Testing

@Suite("Guide: using SwiftUI, without the views", .timeLimit(.minutes(1)))
struct GuideViewExamples {
    nonisolated struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
        var isDone = false
    }

    @MainActor
    @Observable
    final class NoteList {
        let live: LiveCollection<Note>
        private(set) var message: String?
        private let notes: DocumentCollection<Note>

        init() {
            @Dependency(\.storage) var storage
            notes = storage.collection("notes", as: Note.self)
            live = LiveCollection(notes) { $0.where(.equal("isDone", false)).order(by: "text") }
        }

        func add(_ text: String) async {
            do throws(StorageError) {
                try await notes.save(Note(id: UUID().uuidString, text: text))
                message = nil
            } catch {
                message = error.recoverySuggestion
            }
        }
    }

    @Test("A model of a screen, tested without one")
    @MainActor
    func model() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let model = withDependencies {
            $0.storage = storage
        } operation: {
            NoteList()
        }
        let running = Task { await model.live.run() }
        await model.add("Milk")
        try await waitUntil { !model.live.items.isEmpty }
        #expect(model.live.items.map(\.text) == ["Milk"])
        #expect(model.live.phase == .ready && model.message == nil)
        running.cancel()
        await running.value
    }

    @Test("One document")
    @MainActor
    func document() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let notes = storage.collection("notes", as: Note.self)
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

    @Test("The values of a preview")
    @MainActor
    func preview() async throws {
        let storage = try KeelConfiguration.preview().makeStorage()
        let notes = storage.collection("notes", as: Note.self)
        try await notes.saveAll([Note(id: "1", text: "Milk"), Note(id: "2", text: "Bread")])
        #expect(try await notes.count() == 2)
    }
}
