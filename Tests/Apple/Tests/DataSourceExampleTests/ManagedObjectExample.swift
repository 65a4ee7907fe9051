import CoreData
import KeelRepositories

/// The example of the comment on `ManagedObjectRepresentable`.
private struct Note: Sendable {
    var id: String
    var stars: Int
}

private final class NoteEntity: NSManagedObject {
    var id: String { value(forKey: "id") as? String ?? "" }

    var stars: Int32 {
        get { value(forKey: "stars") as? Int32 ?? 0 }
        set { setValue(newValue, forKey: "stars") }
    }
}

extension Note: ManagedObjectRepresentable {
    static var entityName: String { "Note" }
    static func attribute(for property: String) -> String? { property }
    init(_ object: NoteEntity) { self.init(id: object.id, stars: Int(object.stars)) }
    var managedID: String { id }
    func update(_ object: NoteEntity) { object.stars = Int32(stars) }
}
