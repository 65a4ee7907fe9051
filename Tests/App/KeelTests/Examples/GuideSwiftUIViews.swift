// The views of the guide UsingSwiftUI. On Linux they are compiled with the stand-in in
// Tests/SwiftUI; Apple's compiler has never seen them.

#if canImport(SwiftUI)
import Keel
import KeelDependencies
import KeelTestKit
import SwiftUI
import Testing

private typealias Note = GuideViewExamples.Note
private typealias NoteList = GuideViewExamples.NoteList

@MainActor
private enum GuideSwiftUIViews {
    struct NotesView: View {
        @State private var model = NoteList()

        var body: some View {
            List(model.live.items) { Text($0.text) }
                .overlay {
                    if model.live.phase == .loading { ProgressView() }
                    if let error = model.live.error { Text(error.message) }
                }
                .task { await model.live.run() }
        }
    }

    struct NoteSearch: View {
        @LiveQuery("notes", as: Note.self, { $0.order(by: "text") }) var notes
        @State private var text = ""

        var body: some View {
            List(notes) { Text($0.text) }
                .searchable(text: $text)
                .onChange(of: text) { $notes.show { text.isEmpty ? $0 : $0.matching("\(text)*") } }
        }
    }

    struct NoteView: View {
        @State private var note: LiveDocument<Note>

        init(_ notes: DocumentCollection<Note>, id: String) {
            _note = State(initialValue: LiveDocument(notes, id: id))
        }

        var body: some View {
            Text(note.value?.text ?? "This note was deleted.")
                .task { await note.run() }
        }
    }

    struct NotesApp: App {
        var body: some Scene {
            WindowGroup { NotesView() }
        }
    }

    enum Notes {
        @MainActor
        static func main() throws {
            let storage = try KeelConfiguration.production("Notes").makeStorage()
            withDependencies {
                $0.storage = storage
            } operation: {
                NotesApp.main()
            }
        }
    }

    struct NotesPreviews: PreviewProvider {
        static var previews: some View { NotesView() }
    }
}

#if os(Linux)
@MainActor
@Suite("Guide: the views of using SwiftUI", .timeLimit(.minutes(1)))
struct GuideViewTests {
    private let storage = StorageClient(InMemoryStorageAdapter())

    private var notes: DocumentCollection<Note> { storage.collection("notes", as: Note.self) }

    /// Runs a view's first task for the duration of a test.
    private func run(_ outline: Outline, _ test: () async throws -> Void) async throws {
        let task = Task { await outline.tasks[0]() }
        defer { task.cancel() }
        try await test()
    }

    @Test("The list shows an indicator, and then the notes of the store")
    func list() async throws {
        try await notes.save(Note(id: "1", text: "Milk"))
        let view = withDependencies {
            $0.storage = storage
        } operation: {
            GuideSwiftUIViews.NotesView()
        }
        let outline = Outline(of: view)
        #expect(outline.indicators == 1 && outline.texts.isEmpty)
        try await run(outline) {
            await outline.waitForChange()
            try await waitUntil { Outline(of: view).texts == ["Milk"] }
            #expect(Outline(of: view).indicators == 0)
        }
    }

    @Test("What is typed is searched for, and nothing typed shows all")
    func search() async throws {
        let schema = StorageSchema(searches: [SearchDefinition("notes", fields: ["text"])])
        let storage = StorageClient(InMemoryStorageAdapter(), schema: schema)
        let notes = storage.collection("notes", as: Note.self)
        try await notes.saveAll([Note(id: "1", text: "Milk"), Note(id: "2", text: "Bread")])
        let view = withDependencies {
            $0.storage = storage
        } operation: {
            GuideSwiftUIViews.NoteSearch()
        }
        try await waitUntil { Outline(of: view).texts == ["Search", "Bread", "Milk"] }
        func type(_ text: String) {
            Outline(of: view).fields["Search"]?.wrappedValue = text
            for reaction in Outline(of: view).reactions { reaction() }
        }
        type("mil")
        try await waitUntil { Outline(of: view).texts == ["Search", "Milk"] }
        type("")
        try await waitUntil { Outline(of: view).texts.count == 3 }
    }

    @Test("One note is shown, or that it was deleted")
    func document() async throws {
        let view = GuideSwiftUIViews.NoteView(notes, id: "1")
        let outline = Outline(of: view)
        #expect(outline.texts == ["This note was deleted."])
        try await run(outline) {
            try await notes.save(Note(id: "1", text: "Milk"))
            try await waitUntil { Outline(of: view).texts == ["Milk"] }
        }
    }

    @Test("The window of the app has the list")
    func app() {
        let outline = withDependencies {
            $0.storage = storage
        } operation: {
            Outline(of: GuideSwiftUIViews.NotesApp())
        }
        #expect(outline.indicators == 1 && outline.tasks.count == 1)
    }
}
#endif
#endif
