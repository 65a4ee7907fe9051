import CoreData
import Foundation
import KeelRepositories
import Testing

/// The example of Core Data on the page *Bring your own database*.
private struct Note: Sendable {
    var id: String
    var stars: Int
}

/// A class that Xcode makes from a model.
private final class NoteEntity: NSManagedObject {
    var id: String { value(forKey: "id") as? String ?? "" }

    var rating: Int32 {
        get { value(forKey: "rating") as? Int32 ?? 0 }
        set { setValue(newValue, forKey: "rating") }
    }
}

extension Note: ManagedObjectRepresentable {
    static var entityName: String { "Note" }
    static func attribute(for property: String) -> String? {
        property == "stars" ? "rating" : property
    }
    init(_ object: NoteEntity) { self.init(id: object.id, stars: Int(object.rating)) }
    var managedID: String { id }
    func update(_ object: NoteEntity) { object.rating = Int32(stars) }
}

@Suite("Core Data examples on a stand-in")
struct CoreDataExamples {
    /// The model, for which Xcode would have a file.
    private static func container() -> NSPersistentContainer {
        let entity = NSEntityDescription()
        entity.name = "Note"
        let kinds: [(String, NSAttributeType)] = [
            ("id", .stringAttributeType), ("rating", .integer32AttributeType),
        ]
        entity.properties = kinds.map { name, kind in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = kind
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return NSPersistentContainer(name: "Notes", managedObjectModel: model)
    }

    // The stand-in does not create objects of custom classes: the request is recorded, and nothing is found.
    @Test("A condition is translated into the database's terms")
    func source() async throws {
        let container = Self.container()
        let local = CoreDataSource<Note>(container)
        let good = try await local.find(where: #Predicate { $0.stars >= 4 })
        #expect(good.isEmpty)
        #expect(container.fetches.map(\.condition) == ["rating >= 4"])
    }
}
