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

        /// The failure of a use case.
        ///
        /// The underlying error of the store or the network is ``cause``, whose type the domain does not know.
        public struct DomainError: Error, Sendable {
            /// The kind of failure.
            public enum Kind: Hashable, Sendable {
                /// A note without a text.
                case emptyText
                /// No note has this id.
                case noteNotFound(Note.ID)
                /// A stored note cannot be read.
                case noteDamaged
                /// The notes are temporarily unavailable.
                case unavailable
                /// The notes could not be read or written.
                case storageFailed
                /// The caller no longer wants the result.
                case cancelled
            }

            /// The kind of failure.
            public let kind: Kind
            /// The underlying error, if any.
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
                case .storageFailed: "See the cause; no note was partially changed."
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

        /// A note, and whether it is done.
        public struct Note: Identifiable, Hashable, Sendable {
            /// Identifies a note.
            public struct ID: Hashable, Sendable {
                /// The id as text.
                public let text: String

                /// Creates an id from text.
                public init(_ text: String) { self.text = text }
            }

            public let id: ID
            /// The text, which is never empty.
            public let text: String
            /// The time of creation.
            public let written: Date
            /// Whether the note is done.
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
        /// Stores notes.
        public protocol NoteRepository: Sendable {
            /// Returns all notes, the oldest first.
            func notes() async throws(DomainError) -> [Note]

            /// Returns a note.
            ///
            /// - Throws: ``DomainError``, of the kind `noteNotFound` for a missing note.
            func note(_ id: Note.ID) async throws(DomainError) -> Note

            /// Saves a note, replacing any with the same id.
            func save(_ note: Note) async throws(DomainError)

            /// Calls the closure with all notes, now and after each change, until the task is canceled.
            func watch(_ show: ([Note]) async -> Void) async throws(DomainError)
        }

        """#
    )

    private static let addNote = AppTemplate(
        "Sources/__App__Domain/UseCases/AddNote.swift",
        #"""
        public import Foundation

        /// Adds a note.
        public struct AddNote: Sendable {
            private let notes: any NoteRepository
            private let makeID: @Sendable () -> Note.ID
            private let now: @Sendable () -> Date

            /// Creates the use case; ids and times are parameters, so that tests can set them.
            public init(
                _ notes: any NoteRepository,
                makeID: @escaping @Sendable () -> Note.ID,
                now: @escaping @Sendable () -> Date
            ) {
                self.notes = notes
                self.makeID = makeID
                self.now = now
            }

            /// - Returns: The stored note.
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
        /// Marks a note as done.
        public struct FinishNote: Sendable {
            private let notes: any NoteRepository

            /// Creates the use case.
            public init(_ notes: any NoteRepository) { self.notes = notes }

            /// - Returns: The changed note.
            /// - Throws: ``DomainError``, of the kind `noteNotFound` for a missing note.
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
        /// Lists the open notes, and the finished ones after them.
        public struct ListNotes: Sendable {
            private let notes: any NoteRepository

            /// Creates the use case.
            public init(_ notes: any NoteRepository) { self.notes = notes }

            /// - Throws: ``DomainError``.
            public func callAsFunction() async throws(DomainError) -> [Note] {
                Self.sorted(try await notes.notes())
            }

            /// Calls the closure with the list, now and after each change, until the task is canceled.
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
