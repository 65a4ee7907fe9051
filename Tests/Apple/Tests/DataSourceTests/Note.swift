import CoreData
import Foundation
import KeelConformance
import KeelRepositories
import SwiftData

/// The entity of both databases.
struct Note: Sendable, Hashable {
    var id: String
    var text: String
    var stars: Int
    var weight: Double
    var isOpen: Bool
    var date: Date
    var city: String?
    var tags: [String]

    /// Creates one of many different notes.
    static func numbered(_ id: String, _ number: Int) -> Note {
        Note(
            id: id,
            text: "note \(number)",
            stars: number % 7,
            weight: Double(number) / 4,
            isOpen: number.isMultiple(of: 2),
            // Not a whole number of microseconds, to which conditions are limited.
            date: Date(timeIntervalSinceReferenceDate: 7e8 + Double(number) + 0.000_000_3),
            city: number.isMultiple(of: 3) ? nil : "city \(number % 4)",
            tags: ["tag \(number % 5)"]
        )
    }

    /// Conditions that a database can evaluate completely, partially and not at all.
    static let conditions: [Predicate<Note>] = {
        let date = Note.numbered("", 5).date
        let names = ["note 1", "note 2", "note 3"]
        return [
            #Predicate { $0.stars >= 3 },
            #Predicate { $0.stars > 1 && $0.stars < 5 },
            #Predicate { $0.stars != 2 },
            #Predicate { !($0.stars == 2) },
            #Predicate { $0.text == "note 3" },
            #Predicate { names.contains($0.text) },
            #Predicate { !names.contains($0.text) },
            #Predicate { $0.isOpen },
            #Predicate { !$0.isOpen },
            #Predicate { $0.weight <= 2.25 },
            #Predicate { (1...3).contains($0.stars) },
            #Predicate { $0.date == date },
            #Predicate { $0.date < date },
            #Predicate { $0.date <= date },
            #Predicate { $0.date > date },
            #Predicate { $0.date >= date },
            #Predicate { $0.date != date },
            #Predicate { $0.city == nil },
            #Predicate { $0.city != nil },
            #Predicate { $0.city == "city 1" },
            #Predicate { $0.city != nil && $0.city != "city 1" },
            #Predicate { $0.city != "city 1" },
            #Predicate { $0.stars == 1 || $0.text == "note 3" },
            #Predicate { $0.stars == 1 || $0.text < "note 3" },
            #Predicate { $0.stars == 1 && $0.text < "note 3" },
            #Predicate { $0.text.starts(with: "note 1") },
            #Predicate { $0.tags.contains("tag 2") },
            #Predicate { $0.stars > 2 && $0.tags.contains("tag 2") },
            #Predicate { $0.text.count > 6 },
            #Predicate { $0.text.count > 6 && $0.stars % 2 == 1 },
        ]
    }()
}

// MARK: SwiftData

final class NoteModel: PersistentModel {
    var id: String
    var text: String
    var rating: Int
    var weight: Double
    var isOpen: Bool
    var date: Date
    var city: String?
    var tags: [String]

    init(_ note: Note) {
        (id, text, rating, weight) = (note.id, note.text, note.stars, note.weight)
        (isOpen, date, city, tags) = (note.isOpen, note.date, note.city, note.tags)
    }

    func copied() -> NoteModel { NoteModel(Note(self)) }
}

extension Note: ModelRepresentable {
    static var idPath: any KeyPath<NoteModel, String> & Sendable { \.id }

    static var properties: [ModelProperty<Note>] {
        [
            ModelProperty(\.text, \.text), ModelProperty(\.stars, \.rating),
            ModelProperty(\.weight, \.weight), ModelProperty(\.isOpen, \.isOpen),
            ModelProperty(\.date, \.date), ModelProperty(\.city, \.city),
        ]
    }

    init(_ model: NoteModel) {
        self.init(
            id: model.id,
            text: model.text,
            stars: model.rating,
            weight: model.weight,
            isOpen: model.isOpen,
            date: model.date,
            city: model.city,
            tags: model.tags
        )
    }

    var modelID: String { id }

    func makeModel() -> NoteModel { NoteModel(self) }

    func update(_ model: NoteModel) {
        (model.text, model.rating, model.weight) = (text, stars, weight)
        (model.isOpen, model.date, model.city, model.tags) = (isOpen, date, city, tags)
    }
}

// MARK: Core Data

extension Note: ManagedObjectRepresentable {
    static var entityName: String { "Note" }
    static var idAttribute: String { "name" }

    static func attribute(for property: String) -> String? {
        switch property {
        case "stars": "rating"
        case "text", "weight", "isOpen", "date", "city", "tags": property
        default: nil
        }
    }

    /// An object that cannot be converted to a note.
    struct Unreadable: Error {}

    init(_ object: NSManagedObject) throws {
        guard let id = object.value(forKey: "name") as? String,
            let text = object.value(forKey: "text") as? String,
            let stars = object.value(forKey: "rating") as? Int64,
            let weight = object.value(forKey: "weight") as? Double,
            let isOpen = object.value(forKey: "isOpen") as? Bool,
            let date = object.value(forKey: "date") as? Date,
            let tags = object.value(forKey: "tags") as? [String]
        else { throw Unreadable() }
        let city = object.value(forKey: "city") as? String
        self.init(
            id: id,
            text: text,
            stars: Int(stars),
            weight: weight,
            isOpen: isOpen,
            date: date,
            city: city,
            tags: tags
        )
    }

    var managedID: String { id }

    func update(_ object: NSManagedObject) {
        object.setValue(text, forKey: "text")
        object.setValue(stars, forKey: "rating")
        object.setValue(weight, forKey: "weight")
        object.setValue(isOpen, forKey: "isOpen")
        object.setValue(date, forKey: "date")
        object.setValue(city, forKey: "city")
        object.setValue(tags, forKey: "tags")
    }

    /// The model, for which Xcode would have a file.
    static func container() -> NSPersistentContainer {
        let entity = NSEntityDescription()
        entity.name = entityName
        let kinds: [(String, NSAttributeType)] = [
            ("name", .stringAttributeType), ("text", .stringAttributeType),
            ("rating", .integer32AttributeType), ("weight", .doubleAttributeType),
            ("isOpen", .booleanAttributeType), ("date", .dateAttributeType),
            ("city", .stringAttributeType), ("tags", .transformableAttributeType),
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
}
