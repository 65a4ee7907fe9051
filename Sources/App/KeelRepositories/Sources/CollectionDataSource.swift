public import KeelStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data source over a typed collection of a `StorageClient`.
///
/// ```swift
/// let local = CollectionDataSource(storage.collection("restaurants", as: StoredRestaurant.self))
/// ```
///
/// A call with up to 500 elements is atomic; more are split into batches of that size, each atomic.
/// The store evaluates a `#Predicate` if it can; otherwise it is evaluated on all elements.
public struct CollectionDataSource<Element: Codable & Sendable>: LocalDataSource {
    /// The collection.
    public let collection: DocumentCollection<Element>

    private let id: @Sendable (Element) -> String

    /// Creates a source; `id` returns the id of an element.
    public init(
        _ collection: DocumentCollection<Element>,
        id: @escaping @Sendable (Element) -> String
    ) {
        self.collection = collection
        self.id = id
    }

    /// Creates a source of identifiable elements.
    public init(_ collection: DocumentCollection<Element>)
    where Element: Identifiable, Element.ID == String {
        self.init(collection) { $0.id }
    }

    public func find(_ id: String) async throws(DataSourceError) -> Element? {
        try await DataSourceError.local {
            try await collection.find(id)
        }
    }

    public func findAll() async throws(DataSourceError) -> [Element] {
        try await DataSourceError.local {
            try await collection.findAll()
        }
    }

    public func find(
        where predicate: Predicate<Element>
    ) async throws(DataSourceError) -> [Element] {
        let encoder = collection.encoder
        do throws(StorageError) {
            return try await collection.query { try $0.where(predicate, encoder: encoder) }
        } catch {
            guard error.code == .unsupported else { throw DataSourceError(error) }
        }
        return try await findAll().fulfilling(predicate)
    }

    /// Returns the results of a query, in its order, for limits, orders and full-text searches.
    ///
    /// - Throws: ``DataSourceError``, with the code `unreadable` for an element that cannot be decoded.
    public func query(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery
    ) async throws(DataSourceError) -> [Element] {
        try await DataSourceError.local {
            try await collection.query(refine)
        }
    }

    public func save(_ elements: [Element]) async throws(DataSourceError) {
        try await DataSourceError.local {
            var writes: [DocumentWrite] = []
            for element in elements { writes.append(try write(saving: element)) }
            try await collection.client.commitInBatches(
                writes,
                for: "save",
                on: collection.path.string
            )
        }
    }

    public func delete(_ ids: [String]) async throws(DataSourceError) {
        try await DataSourceError.local {
            try await collection.client.commitInBatches(
                ids.map { write(deleting: $0) },
                for: "delete",
                on: collection.path.string
            )
        }
    }

    public func removeAll() async throws(DataSourceError) {
        try await DataSourceError.local {
            _ = try await collection.deleteAll()
        }
    }

    /// Returns the write that saves an element, for a custom batch.
    ///
    /// - Throws: `StorageError` with the code `encodingFailed`.
    public func write(saving element: Element) throws(StorageError) -> DocumentWrite {
        try .set(element, at: collection.path.document(id(element)), encoder: collection.encoder)
    }

    /// Returns the write that deletes an element, for a custom batch.
    public func write(deleting id: String) -> DocumentWrite {
        .delete(collection.path.document(id))
    }
}
