/// The SwiftUI screens of a new app, and their models.
enum SwiftUITemplates {
    static let all: [AppTemplate] = [
        model,
        problem,
        PresentationTemplates.useCases(in: "UI"),
        screen,
        composition,
        app,
        modelTests,
    ]

    private static let model = AppTemplate(
        "Sources/__App__UI/NotesModel.swift",
        #"""
        public import Observation
        public import __App__Domain

        /// The state and the actions of the notes screen.
        ///
        /// The model needs no screen, so tests can use it.
        @MainActor
        @Observable
        public final class NotesModel {
            /// The progress of loading the notes.
            public enum Phase: Hashable, Sendable {
                case loading
                case ready
                /// The notes cannot be observed; ``follow()`` tries again.
                case failed
            }

            /// The current phase.
            public private(set) var phase = Phase.loading
            /// The notes; finished ones are last.
            ///
            /// The notes stay if observing the store fails.
            public private(set) var notes: [Note] = []
            /// The last problem.
            public private(set) var problem: Problem?
            /// The text of a new note.
            public var draft = ""

            private let useCases: UseCases

            /// Creates the model.
            public init(_ useCases: UseCases) { self.useCases = useCases }

            /// Shows the notes now and after each change, until the task is canceled.
            public func follow() async {
                if phase == .failed { phase = .loading }
                problem = nil
                do throws(DomainError) {
                    try await useCases.list.watch { self.show($0) }
                } catch {
                    guard error.kind != .cancelled else { return }
                    phase = .failed
                    problem = Problem(error)
                }
            }

            /// Saves the draft, which stays in its field if saving fails.
            public func add() async {
                let text = draft
                draft = ""
                do throws(DomainError) {
                    _ = try await useCases.add(text)
                    problem = nil
                } catch {
                    if draft.isEmpty { draft = text }
                    problem = Problem(error)
                }
            }

            /// Shows a note as done at once, and reverts that if saving fails.
            public func finish(_ id: Note.ID) async {
                let before = notes
                notes = notes.map { note in
                    var note = note
                    if note.id == id { note.isDone = true }
                    return note
                }
                do throws(DomainError) {
                    _ = try await useCases.finish(id)
                    problem = nil
                } catch {
                    notes = before
                    problem = Problem(error)
                }
            }

            private func show(_ notes: [Note]) {
                self.notes = notes
                phase = .ready
            }
        }

        """#
    )

    private static let problem = AppTemplate(
        "Sources/__App__UI/Problem.swift",
        #"""
        internal import Foundation
        public import __App__Domain

        /// A problem in the form that a screen shows.
        public struct Problem: Hashable, Sendable {
            /// The problem, as a sentence.
            public let title: String
            /// The remedy, as a sentence.
            public let advice: String?

            /// Describes a domain error to the user.
            public init(_ error: DomainError) {
                title = error.localizedDescription
                advice = error.recoverySuggestion
            }
        }

        """#
    )

    private static let screen = AppTemplate(
        "Sources/__App__Views/NotesScreen.swift",
        #"""
        #if canImport(SwiftUI)
        internal import __App__Domain
        public import __App__UI
        public import SwiftUI

        /// The notes, and a field for a new one.
        public struct NotesScreen: View {
            @State private var model: NotesModel

            /// Creates the screen.
            public init(_ model: NotesModel) { _model = State(initialValue: model) }

            public var body: some View {
                NavigationStack {
                    List {
                        HStack {
                            TextField("Something to remember", text: $model.draft)
                            Button("Add") { Task { await model.add() } }
                                .disabled(model.draft.isEmpty)
                        }
                        if let problem = model.problem { ProblemView(problem: problem) }
                        content
                    }
                    .navigationTitle("__App__")
                }
                .task { await model.follow() }
            }

            @ViewBuilder private var content: some View {
                switch model.phase {
                case .loading where model.notes.isEmpty:
                    ProgressView()
                case .failed:
                    Button("Try again") { Task { await model.follow() } }
                case .loading, .ready:
                    if model.notes.isEmpty { Text("Nothing to do.") }
                }
                ForEach(model.notes) { note in
                    Button {
                        Task { await model.finish(note.id) }
                    } label: {
                        Label(note.text, systemImage: note.isDone ? "checkmark.circle" : "circle")
                    }
                    .disabled(note.isDone)
                }
            }
        }

        /// A problem and its remedy.
        struct ProblemView: View {
            let problem: Problem

            var body: some View {
                VStack(alignment: .leading) {
                    Label(problem.title, systemImage: "exclamationmark.triangle")
                    if let advice = problem.advice {
                        Text(advice).font(.footnote).foregroundStyle(.secondary)
                    }
                }
            }
        }
        #endif

        """#
    )

    private static let composition = AppTemplate(
        "Sources/__App__Composition/Composition.swift",
        #"""
        public import Foundation
        internal import Keel
        internal import __App__Data
        internal import __App__Domain
        public import __App__UI

        /// The composition root: the only place that knows all layers and the infrastructure.
        public struct Composition: Sendable {
            /// The use cases of the screens.
            public let useCases: UseCases

            /// Composes the app.
            ///
            /// - Parameter environment: The environment, which may name another store.
            /// - Throws: An error of opening the store.
            public init(
                _ environment: [String: String] = ProcessInfo.processInfo.environment
            ) throws {
        \#(ApplicationTemplates.composing)
            }
        }

        """#
    )

    private static let app = AppTemplate(
        "Sources/__App__/__App__App.swift",
        #"""
        import __App__Composition

        #if canImport(SwiftUI)
        import __App__UI
        import __App__Views
        import SwiftUI

        /// The app on macOS.
        ///
        /// An iOS target in Xcode has the same lines, with the product `__App__Screens`.
        @main
        struct __App__App: App {
            private let model = Result { NotesModel(try Composition().useCases) }

            var body: some Scene {
                WindowGroup {
                    switch model {
                    case .success(let model): NotesScreen(model)
                    case .failure(let error): Text(verbatim: "The notes cannot be opened: \(error)")
                    }
                }
            }
        }
        #else
        /// Without SwiftUI there are no screens, but the tests still run.
        @main
        struct __App__App {
            static func main() throws {
                _ = try Composition()
                print("There are screens on macOS and iOS only. Try: swift test")
            }
        }
        #endif

        """#
    )

    private static let modelTests = AppTemplate(
        "Tests/__App__Tests/NotesModelTests.swift",
        #"""
        import Foundation
        import KeelStorage
        import KeelTestKit
        import __App__Data
        import __App__Domain
        import __App__UI
        import Testing

        @MainActor
        @Suite("The screen of notes, down to the store", .timeLimit(.minutes(1)))
        struct NotesModelTests {
            private let storage = StorageClient(InMemoryStorageAdapter())

            private func model(on storage: StorageClient) -> NotesModel {
                let notes = StoredNoteRepository(storage)
                return NotesModel(
                    UseCases(
                        add: AddNote(notes, makeID: { Note.ID("1") }, now: { .distantPast }),
                        finish: FinishNote(notes),
                        list: ListNotes(notes)
                    )
                )
            }

            @Test("A note is added, appears and is finished")
            func works() async throws {
                let model = model(on: storage)
                #expect(model.phase == .loading)
                let following = Task { await model.follow() }
                try await waitUntil { model.phase == .ready }
                #expect(model.notes == [])
                model.draft = "Buy milk"
                await model.add()
                #expect(model.draft == "" && model.problem == nil)
                try await waitUntil { model.notes.map(\.text) == ["Buy milk"] }
                await model.finish(Note.ID("1"))
                #expect(model.notes.map(\.isDone) == [true])
                following.cancel()
                await following.value
                #expect(model.problem == nil)
            }

            @Test("A refused note shows a problem, and the draft stays")
            func refused() async {
                let model = model(on: storage)
                model.draft = "  "
                await model.add()
                #expect(model.problem?.title == "A note needs a text." && model.draft == "  ")
                #expect(model.problem?.advice == "Write at least one word.")
            }

            @Test("A note that cannot be finished is shown as open again")
            func takenBack() async throws {
                let model = model(on: storage)
                let following = Task { await model.follow() }
                model.draft = "Buy milk"
                await model.add()
                try await waitUntil { !model.notes.isEmpty }
                following.cancel()
                await following.value
                try await storage.deleteDocument("notes/1")
                await model.finish(Note.ID("1"))
                #expect(model.notes.map(\.isDone) == [false])
                #expect(model.problem?.title == "There is no note “1”.")
            }

            @Test("A store that fails shows a problem")
            func away() async {
                let broken = StorageClient(InMemoryStorageAdapter().failing { _ in .fail(.unsupported) })
                let model = model(on: broken)
                await model.follow()
                #expect(model.phase == .failed && model.problem != nil)
            }
        }

        """#
    )
}
