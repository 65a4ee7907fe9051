import Foundation
import KeelRepositories
import SwiftData
import Testing

/// The example of SwiftData on the page *Bring your own database*.
private struct Note: Sendable, Hashable {
    var id: String
    var stars: Int
}

/// A model, without the macro that the stand-in does not have.
private final class NoteModel: PersistentModel {
    var id: String
    var rating: Int

    init(id: String, rating: Int) { (self.id, self.rating) = (id, rating) }

    func copied() -> NoteModel { NoteModel(id: id, rating: rating) }
}

extension Note: ModelRepresentable {
    static var idPath: any KeyPath<NoteModel, String> & Sendable { \.id }
    static var properties: [ModelProperty<Note>] { [ModelProperty(\.stars, \.rating)] }
    init(_ model: NoteModel) { self.init(id: model.id, stars: model.rating) }
    var modelID: String { id }
    func makeModel() -> NoteModel { NoteModel(id: id, rating: stars) }
    func update(_ model: NoteModel) { model.rating = stars }
}

@Suite("SwiftData examples on a stand-in")
struct SwiftDataExamples {
    @Test("Values are stored as models and found by a condition")
    func source() async throws {
        let container = try ModelContainer(for: NoteModel.self)
        let local = SwiftDataSource<Note>(modelContainer: container)
        let notes = (1...5).map { Note(id: "\($0)", stars: $0) }
        try await local.save(notes)
        let good = try await found(in: container)
        #expect(good == Array(notes.suffix(2)))
    }

    private func found(in container: ModelContainer) async throws -> [Note] {
        let local = SwiftDataSource<Note>(modelContainer: container)
        let good = try await local.find(where: #Predicate { $0.stars >= 4 })
        return good
    }
}
