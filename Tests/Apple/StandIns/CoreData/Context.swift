internal import Foundation

// The part of Apple's Core Data that the data source needs, over objects in memory.

/// A fetch request.
public final class NSFetchRequest<Result> {
    public let entityName: String?
    public var predicate: NSPredicate?
    public var sortDescriptors: [NSSortDescriptor]?
    public var fetchLimit = 0

    public init(entityName: String) { self.entityName = entityName }
}

/// The scheduling of a block, which here runs immediately.
public enum ScheduledTaskType: Sendable {
    case immediate
    case enqueued
}

/// A set of objects that are read and changed together.
public final class NSManagedObjectContext {
    public typealias ScheduledTaskType = AppleCoreData.ScheduledTaskType

    let container: NSPersistentContainer
    var known: [Int: NSManagedObject] = [:]
    private var deleted: Set<Int> = []
    private var isInside = false
    private let lock = NSLock()

    init(_ container: NSPersistentContainer) { self.container = container }

    @concurrent public func perform<T>(
        schedule: ScheduledTaskType = .immediate,
        _ block: @escaping () throws -> T
    ) async rethrows -> T {
        try lock.withLock {
            isInside = true
            defer { isInside = false }
            return try block()
        }
    }

    public func reset() {
        known = [:]
        deleted = []
    }

    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        precondition(isInside, "A context is touched outside of perform.")
        for row in container.rows(of: request.entityName ?? "") where known[row.number] == nil {
            known[row.number] = row
        }
        var found = known.values.filter { object in
            object.entity.name == request.entityName && !deleted.contains(object.number)
                && request.predicate?.evaluate(object) ?? true
        }
        for order in (request.sortDescriptors ?? []).reversed() {
            found.sort { one, other in
                guard let first = one.value(forKey: order.key) else { return order.ascending }
                guard let second = other.value(forKey: order.key) else { return !order.ascending }
                let comparison = Order.compare(first, second)
                return order.ascending ? comparison < 0 : comparison > 0
            }
        }
        if request.fetchLimit > 0 { found = Array(found.prefix(request.fetchLimit)) }
        container.note(request.predicate?.predicateFormat, found.count)
        return found.compactMap { $0 as? T }
    }

    public func delete(_ object: NSManagedObject) {
        precondition(isInside, "A context is touched outside of perform.")
        deleted.insert(object.number)
    }

    public func save() throws {
        precondition(isInside, "A context is touched outside of perform.")
        try container.commit(Array(known.values), deleting: deleted)
    }
}

/// The store of objects, for all contexts.
///
/// Not `Sendable`, because not every version of Apple's headers declares that the class is.
public final class NSPersistentContainer {
    /// A recorded fetch.
    public struct Fetch: Equatable, Sendable {
        public let condition: String?
        public let count: Int
    }

    let model: NSManagedObjectModel
    private let lock = NSLock()
    private var rows: [Int: NSManagedObject] = [:]
    private var nextNumber = 0
    private var log: [Fetch] = []
    private var failure: (any Error)?

    public init(name: String, managedObjectModel model: NSManagedObjectModel) { self.model = model }

    public func newBackgroundContext() -> NSManagedObjectContext { NSManagedObjectContext(self) }

    // MARK: For the tests

    /// The fetches since the container was created.
    public var fetches: [Fetch] { lock.withLock { log } }

    /// Makes the next `save` of a context fail.
    public func failNextSave(with error: any Error) { lock.withLock { failure = error } }

    // MARK: For contexts

    func newNumber() -> Int {
        lock.withLock {
            nextNumber += 1
            return nextNumber
        }
    }

    func note(_ condition: String?, _ count: Int) {
        lock.withLock { log.append(Fetch(condition: condition, count: count)) }
    }

    func rows(of entity: String) -> [NSManagedObject] {
        lock.withLock { rows.values.filter { $0.entity.name == entity }.map(Self.copy) }
    }

    func commit(_ changed: [NSManagedObject], deleting deleted: Set<Int>) throws {
        try lock.withLock {
            if let failure {
                self.failure = nil
                throw failure
            }
            for object in changed { rows[object.number] = Self.copy(object) }
            for number in deleted { rows[number] = nil }
        }
    }

    private static func copy(_ object: NSManagedObject) -> NSManagedObject {
        NSManagedObject(object.entity, number: object.number, values: object.values)
    }
}
