#if canImport(CoreData)
public import CoreData

/// A plain value that stands for a managed object of Core Data, which must not leave its context.
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
    /// The class of the objects.
    associatedtype Object: NSManagedObject

    /// The name of their entity in the model.
    static var entityName: String { get }

    /// The attribute that keeps the id, of the kind String; by default `id`.
    static var idAttribute: String { get }

    /// Reads an object.
    ///
    /// - Throws: The error that becomes the cause of a ``DataSourceError``.
    init(_ object: Object) throws

    /// The id that the object is found by.
    var managedID: String { get }

    /// Writes this value into an object, which has its id.
    func update(_ object: Object)

    /// The attribute that has the value of a property, unchanged; by default nil.
    ///
    /// The database is asked for attributes whose kind fits: text for equality; numbers, times and
    /// Booleans; UUIDs and bytes for equality. A condition on another property is looked at outside
    /// of the database, on everything that the rest of the predicate lets through.
    static func attribute(for property: String) -> String?
}

extension ManagedObjectRepresentable {
    public static var idAttribute: String { "id" }

    public static func attribute(for property: String) -> String? { nil }
}
#endif
