import Foundation
import KeelRepositories
import SwiftData
import Testing

/// The example of the comment on `ModelRepresentable`.
private struct Note: Sendable, Hashable {
    var id: String
    var stars: Int
    var city: String?
}

private final class NoteModel: PersistentModel {
    var id: String
    var stars: Int
    var town: String?

    init(id: String, stars: Int, town: String?) {
        (self.id, self.stars, self.town) = (id, stars, town)
    }

    func copied() -> NoteModel { NoteModel(id: id, stars: stars, town: town) }
}

extension Note: ModelRepresentable {
    static var idPath: any KeyPath<NoteModel, String> & Sendable { \.id }
    static var properties: [ModelProperty<Note>] {
        [ModelProperty(\.stars, \.stars), ModelProperty(\.city, \.town)]
    }
    init(_ model: NoteModel) { self.init(id: model.id, stars: model.stars, city: model.town) }
    var modelID: String { id }
    func makeModel() -> NoteModel { NoteModel(id: id, stars: stars, town: city) }
    func update(_ model: NoteModel) {
        model.stars = stars
        model.town = city
    }
}

@Suite("A model example on a stand-in")
struct ModelExample {
    @Test("A property with another name in the model is queried by that name")
    func property() async throws {
        let container = try ModelContainer(for: NoteModel.self)
        let local = SwiftDataSource<Note>(modelContainer: container)
        let note = Note(id: "1", stars: 4, city: "Bergen")
        try await local.save([note, Note(id: "2", stars: 4)])
        try await local.save([note])
        #expect(try await local.find(where: #Predicate { $0.city == "Bergen" }) == [note])
        #expect(container.fetches.last == 1)
    }
}
