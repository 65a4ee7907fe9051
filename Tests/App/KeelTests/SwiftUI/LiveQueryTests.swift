#if canImport(SwiftUI) && os(Linux)
import Keel
import KeelDependencies
import KeelStorage
import KeelTestKit
import SwiftUI
import Testing

@MainActor
@Suite("Live queries in views", .timeLimit(.minutes(1)))
struct LiveQueryTests {
    private struct Note: Codable, Identifiable, Sendable {
        var id: String
        var text: String
        var folder = "a"
    }

    private struct NoteList: View {
        @LiveQuery("notes", as: Note.self, { $0.order(by: "text") }) var notes

        var body: some View {
            List(notes) { Text($0.text) }
                .overlay { if let error = $notes.error { Text(error.message) } }
        }
    }

    private struct FolderList: View {
        @LiveQuery private var notes: [Note]
        @State private var text = ""

        init(_ notes: DocumentCollection<Note>, folder: String) {
            _notes = LiveQuery(notes) { $0.where(.equal("folder", folder)) }
        }

        var body: some View {
            List(notes) { Text($0.text) }
                .toolbar { Button("All") { $notes.show { $0 } } }
        }
    }

    private let storage = StorageClient(InMemoryStorageAdapter())
    private var notes: DocumentCollection<Note> { storage.collection("notes", as: Note.self) }

    @Test("A visible view listens automatically and stops with the view")
    func listens() async throws {
        try await notes.save(Note(id: "1", text: "Milk"))
        var view: NoteList? = withDependencies {
            $0.storage = storage
        } operation: {
            NoteList()
        }
        #expect(storage.hub.count == 0)
        func texts() -> [String] { view.map { Outline(of: $0).texts } ?? [] }
        #expect(texts() == [])
        try await waitUntil { texts() == ["Milk"] }
        try await notes.save(Note(id: "2", text: "Bread"))
        try await waitUntil { texts() == ["Bread", "Milk"] }
        #expect(storage.hub.count == 1)
        view = nil
        try await waitUntil { storage.hub.count == 0 }
    }

    @Test("A view recreated with another query shows that query, even from another collection")
    func madeAnew() async throws {
        try await notes.saveAll([
            Note(id: "1", text: "Milk"), Note(id: "2", text: "Ink", folder: "b"),
        ])
        let others = storage.collection("others", as: Note.self)
        try await others.save(Note(id: "3", text: "Oil"))
        func query(_ notes: DocumentCollection<Note>, _ folder: String) -> LiveQuery<Note> {
            LiveQuery(notes) { $0.where(.equal("folder", folder)) }
        }
        let first = query(notes, "a")
        let state = LiveQueryState(first.make(), first.query)
        let live = state.live
        live.start()
        try await waitUntil { live.items.map(\.text) == ["Milk"] }
        state.take(query(notes, "a"))
        #expect(state.live === live && live.phase == .ready)
        state.take(query(notes, "b"))
        #expect(state.live === live && live.items.map(\.text) == ["Milk"])
        try await waitUntil { live.items.map(\.text) == ["Ink"] }
        // The view's own query stays until the parent asks for another one.
        live.show { $0 }
        state.take(query(notes, "b"))
        try await waitUntil { live.items.count == 2 }
        state.take(query(others, "a"))
        #expect(state.live !== live && state.live.items.isEmpty)
        state.live.start()
        try await waitUntil { state.live.items.map(\.text) == ["Oil"] }
    }

    @Test("The live collection accepts another query")
    func anotherQuery() async throws {
        try await notes.saveAll([
            Note(id: "1", text: "Milk"), Note(id: "2", text: "Ink", folder: "b"),
        ])
        let view = FolderList(notes, folder: "b")
        try await waitUntil { Outline(of: view).texts == ["All", "Ink"] }
        let press = try #require(Outline(of: view).buttons["All"])
        press()
        try await waitUntil { Outline(of: view).texts == ["All", "Milk", "Ink"] }
    }
}
#endif
