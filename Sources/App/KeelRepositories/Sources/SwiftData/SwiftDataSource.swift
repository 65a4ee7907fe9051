#if canImport(SwiftData)
public import Foundation
internal import KeelStorage
public import SwiftData

/// A data source over SwiftData, with models converted from and to plain values.
///
/// ```swift
/// let local = SwiftDataSource<Note>(modelContainer: container)
/// let good = try await local.find(where: #Predicate { $0.stars >= 4 })
/// ```
///
/// Each call has its own context, which sees everything that others have saved. Elements are ordered by id.
/// ``save(_:)`` and ``delete(_:)`` are atomic.
///
/// The database evaluates a predicate as far as ``ModelRepresentable`` names the properties; its
/// results are then checked against the whole predicate.
///
/// - Important: This type was tested against a stand-in for Apple's module, not yet on Apple platforms.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public actor SwiftDataSource<Element: ModelRepresentable>: LocalDataSource {
    private let container: ModelContainer

    /// The maximum number of ids per request, as SQLite limits a statement's variables.
    private static var idLimit: Int { 500 }

    /// Creates a source over a container.
    public init(modelContainer: ModelContainer) { container = modelContainer }

    public func find(_ id: String) async throws(DataSourceError) -> Element? {
        try attempt { try Self.models([id], in: $0).first.map(Element.init) }
    }

    public func findAll() async throws(DataSourceError) -> [Element] {
        try attempt { try $0.fetch(Self.descriptor()).map(Element.init) }
    }

    public func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element] {
        let condition = Element.modelPredicate(for: predicate)
        let found = try attempt { context in
            try context.fetch(Self.descriptor(condition)).map(Element.init)
        }
        return try found.fulfilling(predicate)
    }

    public func save(_ elements: [Element]) async throws(DataSourceError) {
        try attempt { context in
            let ids = elements.map(\.modelID)
            var known: [String: Element.Model] = [:]
            for model in try Self.models(ids, in: context) {
                known[model[keyPath: Element.idPath]] = model
            }
            for (id, element) in zip(ids, elements) {
                if let model = known[id] {
                    element.update(model)
                } else {
                    let model = element.makeModel()
                    context.insert(model)
                    known[id] = model
                }
            }
            try context.save()
        }
    }

    public func delete(_ ids: [String]) async throws(DataSourceError) {
        try attempt { context in
            for model in try Self.models(ids, in: context) { context.delete(model) }
            try context.save()
        }
    }

    public func removeAll() async throws(DataSourceError) {
        try attempt { context in
            try context.delete(model: Element.Model.self)
            try context.save()
        }
    }

    private static func models(
        _ ids: [String],
        in context: ModelContext
    ) throws -> [Element.Model] {
        var models: [Element.Model] = []
        var rest = ids[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(idLimit))
            rest = rest.dropFirst(some.count)
            models += try context.fetch(descriptor(Element.modelPredicate(ids: some)))
        }
        return models
    }

    private static func descriptor(
        _ predicate: Predicate<Element.Model>? = nil
    ) -> FetchDescriptor<Element.Model> {
        FetchDescriptor(
            predicate: predicate,
            sortBy: [SortDescriptor(Element.idPath, comparator: .lexical)]
        )
    }

    private func attempt<Value>(
        _ body: (ModelContext) throws -> Value
    ) throws(DataSourceError) -> Value {
        do {
            return try body(ModelContext(container))
        } catch {
            throw DataSourceError(.storage, "SwiftData failed.", cause: error)
        }
    }
}
#endif
