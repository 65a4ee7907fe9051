/// The tests of a new app.
enum TestTemplates {
    static let all: [AppTemplate] = ofLayers + [commandLineScreenTests]

    /// Tests that do not depend on the user interface.
    static let ofLayers: [AppTemplate] = [
        storedNoteRepositoryTests,
        useCaseTests,
    ]

    private static let commandLineScreenTests = AppTemplate(
        "Tests/__App__Tests/CommandLineScreenTests.swift",
        #"""
        import Foundation
        import KeelStorage
        import __App__Data
        import __App__Domain
        import __App__Presentation
        import Synchronization
        import Testing

        @Suite("The command line, from the screen to the store")
        struct CommandLineScreenTests {
            private let shown = Lines()

            private var screen: CommandLineScreen {
                let notes = StoredNoteRepository(StorageClient(InMemoryStorageAdapter()))
                let useCases = UseCases(
                    add: AddNote(notes, makeID: { Note.ID("1") }, now: { .distantPast }),
                    finish: FinishNote(notes),
                    list: ListNotes(notes)
                )
                return CommandLineScreen(useCases) { [shown] in shown.add($0) }
            }

            @Test("A note is added, listed and done")
            func works() async {
                let screen = screen
                #expect(await screen.run(["list"]))
                #expect(await screen.run(["add", "Buy", "milk"]))
                #expect(await screen.run(["done", "1"]))
                #expect(await screen.run(["list"]))
                #expect(
                    shown.all == ["Nothing to do.", "○ 1  Buy milk", "✓ 1  Buy milk", "✓ 1  Buy milk"]
                )
            }

            @Test("A mistake is shown with advice")
            func mistakes() async {
                #expect(await screen.run(["done", "7"]) == false)
                #expect(shown.all == ["There is no note “7”.", "Take the id from the list."])
                #expect(await screen.run([]) == false)
            }
        }

        /// The lines shown.
        private final class Lines: Sendable {
            private let lines = Mutex<[String]>([])
            var all: [String] { lines.withLock { $0 } }
            func add(_ line: String) { lines.withLock { $0.append(line) } }
        }

        """#
    )

    private static let storedNoteRepositoryTests = AppTemplate(
        "Tests/__App__Tests/StoredNoteRepositoryTests.swift",
        #"""
        import Foundation
        import KeelStorage
        import KeelTestKit
        import __App__Data
        import __App__Domain
        import Testing

        @Suite("Notes in a store")
        struct StoredNoteRepositoryTests {
            private let storage = StorageClient(InMemoryStorageAdapter())

            private func note(_ id: String, _ seconds: Double) throws -> Note {
                try Note(
                    id: Note.ID(id),
                    text: "Note \(id)",
                    written: Date(timeIntervalSince1970: seconds)
                )
            }

            @Test("Saved notes are read, the oldest first")
            func order() async throws {
                let notes = StoredNoteRepository(storage)
                let (old, new) = (try note("b", 1), try note("a", 2))
                try await notes.save(new)
                try await notes.save(old)
                #expect(try await notes.notes() == [old, new])
                #expect(try await notes.note(Note.ID("a")) == new)
            }

            @Test("A missing note has its own error")
            func missing() async throws {
                let error = await #expect(throws: DomainError.self) {
                    try await StoredNoteRepository(storage).note(Note.ID("x"))
                }
                #expect(error?.kind == .noteNotFound(Note.ID("x")))
            }

            @Test("A note that cannot be read is an error")
            func damaged() async throws {
                try await storage.setDocument("notes/1", ["text": "Milk", "written": "yesterday"])
                let error = await #expect(throws: DomainError.self) {
                    try await StoredNoteRepository(storage).notes()
                }
                #expect(error?.kind == .noteDamaged)
            }

            @Test("An unavailable store is an error of the domain, with the store's error as its cause")
            func away() async throws {
                let broken = StorageClient(InMemoryStorageAdapter().failing { _ in .fail(.unavailable) })
                let error = await #expect(throws: DomainError.self) {
                    try await StoredNoteRepository(broken).notes()
                }
                #expect(error?.kind == .unavailable)
                #expect(error?.cause is StorageError)
            }

            @Test("Watching shows each change", .timeLimit(.minutes(1)))
            func watching() async throws {
                let notes = StoredNoteRepository(storage)
                let first = try note("a", 1)
                let (lists, teller) = AsyncStream<[Note]>.makeStream()
                let watching = Task { try await notes.watch { teller.yield($0) } }
                var seen = lists.makeAsyncIterator()
                #expect(await seen.next() == [])
                try await notes.save(first)
                #expect(await seen.next() == [first])
                watching.cancel()
            }
        }

        """#
    )

    private static let useCaseTests = AppTemplate(
        "Tests/__App__Tests/UseCaseTests.swift",
        #"""
        import Foundation
        import __App__Domain
        import Synchronization
        import Testing

        @Suite("Use cases")
        struct UseCaseTests {
            private let notes = ScriptedNotes()

            @Test("A note is added with its id and its time")
            func add() async throws {
                let note = try await AddNote(notes, makeID: { Note.ID("1") }, now: { .distantPast })(
                    " Milk "
                )
                #expect(note.text == "Milk")
                #expect(note.written == .distantPast)
                #expect(notes.all == [note])
            }

            @Test("A note without a text is refused, and not saved")
            func empty() async throws {
                let add = AddNote(notes, makeID: { Note.ID("1") }, now: { .distantPast })
                let error = await #expect(throws: DomainError.self) { try await add("  ") }
                #expect(error?.kind == .emptyText)
                #expect(notes.all.isEmpty)
            }

            @Test("Finished notes come after open ones")
            func list() async throws {
                for id in ["1", "2"] {
                    try await notes.save(try Note(id: Note.ID(id), text: id, written: .distantPast))
                }
                _ = try await FinishNote(notes)(Note.ID("1"))
                #expect(try await ListNotes(notes)().map(\.id.text) == ["2", "1"])
            }

            @Test("A failing store is an error of the domain")
            func failing() async throws {
                notes.fail(with: DomainError(.unavailable))
                let error = await #expect(throws: DomainError.self) { try await ListNotes(notes)() }
                #expect(error?.kind == .unavailable)
            }
        }

        /// A repository that a test controls.
        private final class ScriptedNotes: NoteRepository {
            private let state = Mutex<(notes: [Note], failure: DomainError?)>(([], nil))

            var all: [Note] { state.withLock { $0.notes } }

            func fail(with error: DomainError) { state.withLock { $0.failure = error } }

            func notes() async throws(DomainError) -> [Note] { try found() }

            func note(_ id: Note.ID) async throws(DomainError) -> Note {
                guard let note = try found().first(where: { $0.id == id }) else {
                    throw DomainError(.noteNotFound(id))
                }
                return note
            }

            func save(_ note: Note) async throws(DomainError) {
                _ = try found()
                state.withLock { state in
                    state.notes.removeAll { $0.id == note.id }
                    state.notes.append(note)
                }
            }

            func watch(_ show: ([Note]) async -> Void) async throws(DomainError) {
                await show(try found())
            }

            private func found() throws(DomainError) -> [Note] {
                let (notes, failure) = state.withLock { $0 }
                if let failure { throw failure }
                return notes
            }
        }

        """#
    )
}
