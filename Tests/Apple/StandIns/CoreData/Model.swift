// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import FoundationEssentials

/// The type of an attribute.
public enum NSAttributeType: Sendable {
    case integer16AttributeType
    case integer32AttributeType
    case integer64AttributeType
    case decimalAttributeType
    case doubleAttributeType
    case floatAttributeType
    case stringAttributeType
    case booleanAttributeType
    case dateAttributeType
    case binaryDataAttributeType
    case UUIDAttributeType
    case URIAttributeType
    case transformableAttributeType

    /// Returns a value as it is stored; nil for one of another type.
    func kept(_ value: Any) -> Any? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            (value as? any BinaryInteger).map { Int64($0) }
        case .doubleAttributeType: (value as? any BinaryFloatingPoint).map { Double($0) }
        case .floatAttributeType: (value as? any BinaryFloatingPoint).map { Double(Float($0)) }
        case .stringAttributeType: value as? String
        case .booleanAttributeType: value as? Bool
        case .dateAttributeType: value as? Date
        case .binaryDataAttributeType: value as? Data
        case .UUIDAttributeType: value as? UUID
        default: value
        }
    }
}

/// The description of an entity.
public final class NSEntityDescription {
    public var name: String?
    public var properties: [NSAttributeDescription] = []

    public init() {}

    public var attributesByName: [String: NSAttributeDescription] {
        Dictionary(properties.map { ($0.name, $0) }) { $1 }
    }

    public static func entity(
        forEntityName name: String,
        in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        context.container.model.entities.first { $0.name == name }
    }

    public static func insertNewObject(
        forEntityName name: String,
        into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: name, in: context) else {
            preconditionFailure("The model has no entity \"\(name)\".")
        }
        let object = NSManagedObject(entity, number: context.container.newNumber())
        context.known[object.number] = object
        return object
    }
}

/// An attribute of an entity.
public final class NSAttributeDescription {
    public var name = ""
    public var attributeType = NSAttributeType.stringAttributeType

    public init() {}
}

/// The entities of a store.
public final class NSManagedObjectModel {
    public var entities: [NSEntityDescription] = []

    public init() {}
}

/// An object of a context; the classes that Xcode generates for an app do not exist here.
open class NSManagedObject {
    public let entity: NSEntityDescription
    let number: Int
    private(set) var values: [String: Any] = [:]

    init(_ entity: NSEntityDescription, number: Int, values: [String: Any] = [:]) {
        self.entity = entity
        self.number = number
        self.values = values
    }

    public func value(forKey key: String) -> Any? {
        precondition(entity.attributesByName[key] != nil, "There is no attribute \"\(key)\".")
        return values[key]
    }

    public func setValue(_ value: Any?, forKey key: String) {
        guard let attribute = entity.attributesByName[key] else {
            preconditionFailure("There is no attribute \"\(key)\".")
        }
        guard let value else {
            values[key] = nil
            return
        }
        guard let kept = attribute.attributeType.kept(value) else {
            preconditionFailure("\"\(key)\" does not keep \(type(of: value)).")
        }
        values[key] = kept
    }
}
