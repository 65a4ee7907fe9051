#if canImport(CoreData)
public import CoreData

/// A plain value for a Core Data managed object, which must not leave its context.
///
/// ```swift
/// extension Note: ManagedObjectRepresentable {
///     static var entityName: String { "Note" }
///     static func attribute(for property: String) -> String? { property }
///     init(_ object: NoteEntity) { self.init(id: object.id, stars: Int(object.stars)) }
///     var managedID: String { id }
///     func update(_ object: NoteEntity) { object.stars = Int32(stars) }
/// }
/// ```
public protocol ManagedObjectRepresentable: Sendable {
    /// The class of the managed objects.
    associatedtype Object: NSManagedObject

    /// The name of the entity in the model.
    static var entityName: String { get }

    /// The attribute for the id, of type String; by default `id`.
    static var idAttribute: String { get }

    /// Creates a value from an object.
    ///
    /// - Throws: Any error, which becomes the cause of a ``DataSourceError``.
    init(_ object: Object) throws

    /// The id of the object.
    var managedID: String { get }

    /// Writes the value to an object, whose id is already set.
    func update(_ object: Object)

    /// Returns the attribute with the unchanged value of a property; by default nil.
    ///
    /// The database evaluates numbers and dates, and text, Booleans, UUIDs and bytes for equality. Other conditions are
    /// evaluated in memory, on the results of the rest of the predicate.
    static func attribute(for property: String) -> String?
}

extension ManagedObjectRepresentable {
    public static var idAttribute: String { "id" }

    public static func attribute(for property: String) -> String? { nil }
}
#endif
