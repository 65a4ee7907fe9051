public import Foundation

// The part of Apple's SwiftData that the data source needs, over models in memory. Foundation evaluates predicates on
// every model, so a predicate that the real database cannot translate succeeds here and fails there. The macro Model
// does not exist here.

/// A class of models.
///
/// Apple's macro generates how a model is read from and written to a database; here a model provides a copy.
public protocol PersistentModel: AnyObject, Hashable, Identifiable {
    func copied() -> Self
}

extension PersistentModel {
    public static func == (one: Self, other: Self) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A request for models.
public struct FetchDescriptor<T: PersistentModel> {
    public var predicate: Predicate<T>?
    public var sortBy: [SortDescriptor<T>]
    public var fetchLimit: Int?

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// The store of models, for all contexts.
///
/// `@unchecked`, because models are not sendable: these are copies that are only accessed under the lock.
public final class ModelContainer: @unchecked Sendable {
    private let lock = NSLock()
    private var rows: [Row] = []
    private var nextRow = 0
    private var log: [Int] = []
    private var failure: (any Error)?

    struct Row {
        let number: Int
        let model: any PersistentModel
    }

    /// The types are only for the compiler: this container stores models of every type.
    public init(for types: any PersistentModel.Type...) throws {}

    // MARK: For the tests

    /// The number of models returned by each fetch since the container was created.
    public var fetches: [Int] { lock.withLock { log } }

    /// Makes the next `save` of a context fail.
    public func failNextSave(with error: any Error) { lock.withLock { failure = error } }

    // MARK: For contexts

    func rows<T: PersistentModel>(of type: T.Type) -> [(number: Int, model: T)] {
        lock.withLock {
            rows.compactMap { row in (row.model as? T).map { (row.number, $0.copied()) } }
        }
    }

    func note(fetched count: Int) { lock.withLock { log.append(count) } }

    func number() -> Int {
        lock.withLock {
            nextRow += 1
            return nextRow
        }
    }

    func commit(_ changed: [Row], deleting deleted: Set<Int>) throws {
        try lock.withLock {
            if let failure {
                self.failure = nil
                throw failure
            }
            let numbers = deleted.union(changed.map(\.number))
            rows.removeAll { numbers.contains($0.number) }
            rows += changed.filter { !deleted.contains($0.number) }
                .map { Row(number: $0.number, model: $0.model.copied()) }
            // A database guarantees no order.
            rows.sort { $0.number > $1.number }
        }
    }
}

/// A set of models that are read and changed together.
public final class ModelContext {
    private let container: ModelContainer
    private var known: [Int: any PersistentModel] = [:]
    private var deleted: Set<Int> = []

    public init(_ container: ModelContainer) { self.container = container }

    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        for (number, model) in container.rows(of: T.self) where known[number] == nil {
            known[number] = model
        }
        var found = known.filter { !deleted.contains($0.key) }.values.compactMap { $0 as? T }
        if let predicate = descriptor.predicate { found = try found.filter(predicate.evaluate) }
        found.sort(using: descriptor.sortBy)
        if let limit = descriptor.fetchLimit { found = Array(found.prefix(limit)) }
        container.note(fetched: found.count)
        return found
    }

    public func insert(_ model: some PersistentModel) { known[container.number()] = model }

    public func delete(_ model: some PersistentModel) {
        for (number, other) in known where other === model { deleted.insert(number) }
    }

    public func delete<T: PersistentModel>(
        model: T.Type,
        where predicate: Predicate<T>? = nil,
        includeSubclasses: Bool = true
    ) throws {
        for found in try fetch(FetchDescriptor(predicate: predicate)) { delete(found) }
    }

    public func save() throws {
        try container.commit(
            known.map { ModelContainer.Row(number: $0.key, model: $0.value) },
            deleting: deleted
        )
        for number in deleted { known[number] = nil }
        deleted = []
        // Other contexts may have changed the store, so it is read again.
        known = [:]
    }
}
