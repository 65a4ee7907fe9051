#if canImport(CoreData)
public import CoreData
internal import KeelStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data source over Core Data, with managed objects converted from and to plain values.
///
/// ```swift
/// let local = CoreDataSource<Note>(container)
/// let good = try await local.find(where: #Predicate { $0.stars >= 4 })
/// ```
///
/// The source has its own background context, which is reset after each call. Elements are ordered by id. A call of
/// ``save(_:)`` or ``delete(_:)`` is atomic. If others write the same entity, add a uniqueness constraint to its id.
///
/// The database evaluates a predicate as far as ``ManagedObjectRepresentable`` names the
/// attributes; its results are then checked against the whole predicate.
///
/// - Important: This type was tested against a stand-in for Apple's module, not yet on Apple platforms.
public struct CoreDataSource<Element: ManagedObjectRepresentable>: LocalDataSource {
    private let context: Context

    /// The maximum number of ids per request, as SQLite limits a statement's variables.
    private static var idLimit: Int { 500 }

    /// Creates a source over a container with loaded stores.
    public init(_ container: NSPersistentContainer) {
        context = Context(content: container.newBackgroundContext())
    }

    public func find(_ id: String) async throws(DataSourceError) -> Element? {
        try await perform { try Self.objects([id], in: $0).first.map(Element.init) }
    }

    public func findAll() async throws(DataSourceError) -> [Element] {
        try await perform { try $0.fetch(Self.request()).map(Element.init) }
    }

    public func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element] {
        // Conditions that cannot be translated are checked on all elements.
        let filter = try? DocumentFilter(predicate)
        let found = try await perform { context in
            let attributes = Self.entity(in: context)?.attributesByName ?? [:]
            let condition = filter?.managedCondition { property in
                Element.attribute(for: property).flatMap { attributes[$0] }
            }
            return try context.fetch(Self.request(condition)).map(Element.init)
        }
        return try found.fulfilling(predicate)
    }

    public func save(_ elements: [Element]) async throws(DataSourceError) {
        try await perform { context in
            let ids = elements.map(\.managedID)
            var known: [String: Element.Object] = [:]
            for object in try Self.objects(ids, in: context) {
                guard let id = object.value(forKey: Element.idAttribute) as? String else {
                    continue
                }
                known[id] = object
            }
            for (id, element) in zip(ids, elements) {
                let object = try known[id] ?? Self.newObject(id, in: context)
                element.update(object)
                known[id] = object
            }
            try context.save()
        }
    }

    public func delete(_ ids: [String]) async throws(DataSourceError) {
        try await perform { context in
            for object in try Self.objects(ids, in: context) { context.delete(object) }
            try context.save()
        }
    }

    public func removeAll() async throws(DataSourceError) {
        try await perform { context in
            for object in try context.fetch(Self.request()) { context.delete(object) }
            try context.save()
        }
    }

    // MARK: In a context

    private static func entity(in context: NSManagedObjectContext) -> NSEntityDescription? {
        NSEntityDescription.entity(forEntityName: Element.entityName, in: context)
    }

    private static func newObject(
        _ id: String,
        in context: NSManagedObjectContext
    ) throws -> Element.Object {
        let made = NSEntityDescription.insertNewObject(
            forEntityName: Element.entityName,
            into: context
        )
        guard let object = made as? Element.Object else {
            throw DataSourceError(
                .invalidRequest,
                "Objects of the entity \"\(Element.entityName)\" are \(type(of: made)), and not "
                    + "\(Element.Object.self)."
            )
        }
        object.setValue(id, forKey: Element.idAttribute)
        return object
    }

    private static func objects(
        _ ids: [String],
        in context: NSManagedObjectContext
    ) throws -> [Element.Object] {
        var objects: [Element.Object] = []
        var rest = ids[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(idLimit))
            rest = rest.dropFirst(some.count)
            let condition = NSPredicate(
                format: "%K IN %@",
                argumentArray: [Element.idAttribute, some]
            )
            objects += try context.fetch(request(condition))
        }
        return objects
    }

    private static func request(
        _ predicate: NSPredicate? = nil
    ) -> NSFetchRequest<Element.Object> {
        let request = NSFetchRequest<Element.Object>(entityName: Element.entityName)
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: Element.idAttribute, ascending: true)]
        return request
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
    ) async throws(DataSourceError) -> Value {
        do {
            return try await context.perform(body)
        } catch let error as DataSourceError {
            throw error
        } catch {
            throw DataSourceError(.storage, "Core Data failed.", cause: error)
        }
    }
}

/// A context, used only within its own blocks.
///
/// `@unchecked` because `perform` serializes the blocks, which the type does not express.
private struct Context: @unchecked Sendable {
    let content: NSManagedObjectContext

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
    ) async throws -> Value {
        try await content.perform {
            // Discards failed changes, and objects that others may change.
            defer { content.reset() }
            return try body(content)
        }
    }
}
#endif
