/// The layer between the domain and Keel.
enum DataTemplates {
    static let all: [AppTemplate] = [
        noteDTOOnDomain,
        noteDTO,
        domainErrorOnStorage,
        storedNoteRepository,
    ]

    private static let noteDTOOnDomain = AppTemplate(
        "Sources/__App__Data/DTO/NoteDTO+Domain.swift",
        #"""
        internal import __App__Domain

        extension NoteDTO {
            init(_ note: Note) {
                self.init(id: note.id.text, text: note.text, written: note.written, isDone: note.isDone)
            }

            /// Stored data that does not fit is an error, and never replaced by a default.
            func toDomain() throws(DomainError) -> Note {
                do throws(DomainError) {
                    return try Note(id: Note.ID(id), text: text, written: written, isDone: isDone)
                } catch {
                    throw DomainError(.noteDamaged, cause: error)
                }
            }
        }

        extension [NoteDTO] {
            func toDomain() throws(DomainError) -> [Note] {
                var notes: [Note] = []
                for dto in self { notes.append(try dto.toDomain()) }
                return notes
            }
        }

        """#
    )

    private static let noteDTO = AppTemplate(
        "Sources/__App__Data/DTO/NoteDTO.swift",
        #"""
        internal import Foundation

        /// A note in its stored form, which never leaves this layer.
        struct NoteDTO: Codable, Identifiable, Sendable {
            var id: String
            var text: String
            var written: Date
            var isDone: Bool
        }

        """#
    )

    private static let domainErrorOnStorage = AppTemplate(
        "Sources/__App__Data/Errors/DomainError+Storage.swift",
        #"""
        internal import KeelStorage
        internal import __App__Domain

        extension DomainError {
            /// Translates a failure of the store into an error of the app, with the failure as its cause.
            init(_ error: StorageError) {
                let kind: Kind =
                    switch error.code {
                    case .cancelled: .cancelled
                    case .decodingFailed: .noteDamaged
                    case let code where code.isTransient: .unavailable
                    default: .storageFailed
                    }
                self.init(kind, cause: error)
            }

            /// Runs an operation of the store, and translates its errors.
            static func mapping<Value>(
                _ operation: () async throws -> Value
            ) async throws(DomainError) -> Value {
                do {
                    return try await operation()
                } catch let error as DomainError {
                    throw error
                } catch let error as StorageError {
                    throw DomainError(error)
                } catch {
                    throw DomainError(.storageFailed, cause: error)
                }
            }
        }

        """#
    )

    private static let storedNoteRepository = AppTemplate(
        "Sources/__App__Data/Repositories/StoredNoteRepository.swift",
        #"""
        public import KeelStorage
        public import __App__Domain

        /// Stores notes as documents in the app's store.
        public struct StoredNoteRepository: NoteRepository {
            private let notes: DocumentCollection<NoteDTO>

            /// Creates the repository.
            public init(_ storage: StorageClient) {
                notes = storage.collection("notes", as: NoteDTO.self)
            }

            public func notes() async throws(DomainError) -> [Note] {
                try await DomainError.mapping {
                    try await notes.query { $0.order(by: "written") }.toDomain()
                }
            }

            public func note(_ id: Note.ID) async throws(DomainError) -> Note {
                let dto = try await DomainError.mapping {
                    try await notes.find(id.text)
                }
                guard let dto else { throw DomainError(.noteNotFound(id)) }
                return try dto.toDomain()
            }

            public func save(_ note: Note) async throws(DomainError) {
                try await DomainError.mapping {
                    _ = try await notes.save(NoteDTO(note))
                }
            }

            public func watch(_ show: ([Note]) async -> Void) async throws(DomainError) {
                try await DomainError.mapping {
                    for try await snapshot in notes.listen({ $0.order(by: "written") }) {
                        await show(try snapshot.items.toDomain())
                    }
                }
            }
        }

        """#
    )
}
