// The views of the guide UsingSwiftUI. On Linux they are parsed and no more: SwiftUI is not there.
// They have never been compiled; Documentation/Platforms.md says so too.

#if canImport(SwiftUI)
import Keel
import KeelDependencies
import SwiftUI

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
#endif
