#if canImport(SwiftData)
public import Foundation
public import SwiftData

/// A data source over SwiftData; each model becomes a plain value and is made of one.
///
/// It has not been compiled by its authors, who work on systems without SwiftData.
///
/// The source is an actor with a context of its own, off the main actor. It looks up a model by an
/// id that ``ModelRepresentable`` names.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@ModelActor
public actor SwiftDataSource<Element: ModelRepresentable>: LocalDataSource {
    public func find(_ id: String) async throws(DataSourceError) -> Element? {
        try attempt { try modelContext.fetch(Element.descriptor(id: id)).first.map(Element.init) }
    }

    public func findAll() async throws(DataSourceError) -> [Element] {
        try attempt {
            try modelContext.fetch(FetchDescriptor<Element.Model>()).map(Element.init)
        }
    }

    public func save(_ elements: [Element]) async throws(DataSourceError) {
        try attempt {
            for element in elements {
                if let model = try modelContext.fetch(Element.descriptor(id: element.modelID)).first
                {
                    element.update(model)
                } else {
                    modelContext.insert(element.makeModel())
                }
            }
            try modelContext.save()
        }
    }

    public func delete(_ ids: [String]) async throws(DataSourceError) {
        try attempt {
            for id in ids {
                for model in try modelContext.fetch(Element.descriptor(id: id)) {
                    modelContext.delete(model)
                }
            }
            try modelContext.save()
        }
    }

    public func removeAll() async throws(DataSourceError) {
        try attempt {
            try modelContext.delete(model: Element.Model.self)
            try modelContext.save()
        }
    }

    private func attempt<Value>(_ body: () throws -> Value) throws(DataSourceError) -> Value {
        do {
            return try body()
        } catch {
            modelContext.rollback()
            throw DataSourceError(.storage, "SwiftData failed.", cause: error)
        }
    }
}

/// A plain value that stands for a model of SwiftData, which must not leave its actor.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public protocol ModelRepresentable: Sendable {
    /// The model.
    associatedtype Model: PersistentModel

    /// Reads a model.
    init(_ model: Model)

    /// The id that the model is found by.
    var modelID: String { get }

    /// Makes a model that is not in a context yet.
    func makeModel() -> Model

    /// Writes this value into a model.
    func update(_ model: Model)

    /// The question for the model with an id.
    static func descriptor(id: String) -> FetchDescriptor<Model>
}
#endif
