/// The layer without dependencies.
enum DomainTemplates {
    static let all: [AppTemplate] = [
        domainError,
        note,
        noteRepository,
        addNote,
        finishNote,
        listNotes,
    ]

    private static let domainError = AppTemplate(
        "Sources/__App__Domain/DomainError.swift",
        #"""
        public import Foundation

        /// Why a use case failed, in the words of the app.
        ///
        /// What lies underneath, in the store or the network, is in ``cause``; the domain does not know its
        /// type.
        public struct DomainError: Error, Sendable {
            /// What went wrong.
            public enum Kind: Hashable, Sendable {
                /// A note without a text.
                case emptyText
                /// There is no note with this id.
                case noteNotFound(Note.ID)
                /// A note that was kept cannot be read.
                case noteDamaged
                /// The notes cannot be reached just now.
                case unavailable
                /// The notes could not be read or written.
                case storageFailed
                /// The caller no longer wants the result.
                case cancelled
            }

            /// What went wrong.
            public let kind: Kind
            /// The error underneath, where there is one.
            public let cause: (any Error)?

            /// Creates an error.
            public init(_ kind: Kind, cause: (any Error)? = nil) {
                self.kind = kind
                self.cause = cause
            }
        }

        extension DomainError: LocalizedError {
            public var errorDescription: String? {
                switch kind {
                case .emptyText: "A note needs a text."
                case .noteNotFound(let id): "There is no note “\(id.text)”."
                case .noteDamaged: "A note cannot be read."
                case .unavailable: "The notes cannot be reached."
                case .storageFailed: "The notes could not be read or written."
                case .cancelled: "The operation was canceled."
                }
            }

            public var recoverySuggestion: String? {
                switch kind {
                case .emptyText: "Write at least one word."
                case .noteNotFound: "Take the id from the list."
                case .noteDamaged: "See the cause, which names the note and its field."
                case .unavailable: "Try again in a while."
                case .storageFailed: "See the cause; nothing was changed by half."
                case .cancelled: nil
                }
            }
        }

        """#
    )

    private static let note = AppTemplate(
        "Sources/__App__Domain/Entities/Note.swift",
        #"""
        public import Foundation

        /// Something to remember, and whether it is done.
        public struct Note: Identifiable, Hashable, Sendable {
            /// Tells a note from others.
            public struct ID: Hashable, Sendable {
                /// The id as text.
                public let text: String

                /// Takes text as an id.
                public init(_ text: String) { self.text = text }
            }

            public let id: ID
            /// What there is to remember; never empty.
            public let text: String
            /// When it was written.
            public let written: Date
            /// Whether it is done.
            public var isDone: Bool

            /// Creates a note.
            ///
            /// - Throws: ``DomainError`` of the kind `emptyText`.
            public init(id: ID, text: String, written: Date, isDone: Bool = false) throws(DomainError) {
                let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
                guard !text.isEmpty else { throw DomainError(.emptyText) }
                self.id = id
                self.text = text
                self.written = written
                self.isDone = isDone
            }
        }

        """#
    )

    private static let noteRepository = AppTemplate(
        "Sources/__App__Domain/Repositories/NoteRepository.swift",
        #"""
        /// Keeps notes.
        public protocol NoteRepository: Sendable {
            /// All notes, the oldest first.
            func notes() async throws(DomainError) -> [Note]

            /// A note.
            ///
            /// - Throws: ``DomainError``, of the kind `noteNotFound` where there is none.
            func note(_ id: Note.ID) async throws(DomainError) -> Note

            /// Keeps a note, in place of the one with its id.
            func save(_ note: Note) async throws(DomainError)

            /// Hands over all notes, now and after each change, until the task is cancelled.
            func watch(_ show: ([Note]) async -> Void) async throws(DomainError)
        }

        """#
    )

    private static let addNote = AppTemplate(
        "Sources/__App__Domain/UseCases/AddNote.swift",
        #"""
        public import Foundation

        /// Writes a note down.
        public struct AddNote: Sendable {
            private let notes: any NoteRepository
            private let makeID: @Sendable () -> Note.ID
            private let now: @Sendable () -> Date

            /// Creates the use case; ids and times come from outside, so that a test can say them.
            public init(
                _ notes: any NoteRepository,
                makeID: @escaping @Sendable () -> Note.ID,
                now: @escaping @Sendable () -> Date
            ) {
                self.notes = notes
                self.makeID = makeID
                self.now = now
            }

            /// - Returns: The note, once it is kept.
            /// - Throws: ``DomainError``.
            public func callAsFunction(_ text: String) async throws(DomainError) -> Note {
                let note = try Note(id: makeID(), text: text, written: now())
                try await notes.save(note)
                return note
            }
        }

        """#
    )

    private static let finishNote = AppTemplate(
        "Sources/__App__Domain/UseCases/FinishNote.swift",
        #"""
        /// Says that a note is done.
        public struct FinishNote: Sendable {
            private let notes: any NoteRepository

            /// Creates the use case.
            public init(_ notes: any NoteRepository) { self.notes = notes }

            /// - Returns: The note as it is now.
            /// - Throws: ``DomainError``, of the kind `noteNotFound` where there is none.
            public func callAsFunction(_ id: Note.ID) async throws(DomainError) -> Note {
                var note = try await notes.note(id)
                guard !note.isDone else { return note }
                note.isDone = true
                try await notes.save(note)
                return note
            }
        }

        """#
    )

    private static let listNotes = AppTemplate(
        "Sources/__App__Domain/UseCases/ListNotes.swift",
        #"""
        /// Lists the notes that are not done, and those that are behind them.
        public struct ListNotes: Sendable {
            private let notes: any NoteRepository

            /// Creates the use case.
            public init(_ notes: any NoteRepository) { self.notes = notes }

            /// - Throws: ``DomainError``.
            public func callAsFunction() async throws(DomainError) -> [Note] {
                Self.sorted(try await notes.notes())
            }

            /// Hands over the list, now and after each change, until the task is cancelled.
            ///
            /// - Throws: ``DomainError``.
            public func watch(_ show: ([Note]) async -> Void) async throws(DomainError) {
                try await notes.watch { await show(Self.sorted($0)) }
            }

            private static func sorted(_ notes: [Note]) -> [Note] {
                notes.filter { !$0.isDone } + notes.filter(\.isDone)
            }
        }

        """#
    )
}
