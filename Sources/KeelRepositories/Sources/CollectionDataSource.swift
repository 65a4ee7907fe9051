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
/// A call with up to 500 elements takes effect whole; more are kept in batches of that size, each
/// whole by itself. What a `#Predicate` says is answered by the store as far as it can; the rest by
/// looking at all elements.
public struct CollectionDataSource<Element: Codable & Sendable>: LocalDataSource {
    /// The collection.
    public let collection: DocumentCollection<Element>

    private let id: @Sendable (Element) -> String

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - collection: Where elements are kept.
    ///   - id: The id of an element, under which it is kept.
    public init(
        _ collection: DocumentCollection<Element>,
        id: @escaping @Sendable (Element) -> String
    ) {
        self.collection = collection
        self.id = id
    }

    /// Creates a source of elements that know their ids.
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

    /// Returns the elements that a query finds, in its order: limits, orders, searches.
    ///
    /// - Throws: ``DataSourceError``.
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

    /// The write that keeps an element, for a batch of one's own.
    ///
    /// - Throws: `StorageError` with the code `encodingFailed`.
    public func write(saving element: Element) throws(StorageError) -> DocumentWrite {
        try .set(element, at: collection.path.document(id(element)), encoder: collection.encoder)
    }

    /// The write that removes an element, for a batch of one's own.
    public func write(deleting id: String) -> DocumentWrite {
        .delete(collection.path.document(id))
    }
}
