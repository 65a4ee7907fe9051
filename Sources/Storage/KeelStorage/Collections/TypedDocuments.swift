public import KeelDocuments

/// Documents that are read as values of one type.
///
/// A ``DocumentCollection`` covers one collection, a ``CollectionGroup`` all collections with one name; the values of
/// their ``versioned`` form carry their revisions.
///
/// An error of a closure that makes a query, other than a `StorageError`, becomes the cause of
/// `StorageError/Code/invalidArgument`.
public protocol TypedDocuments<Item>: Sendable {
    /// The type that each document is read as.
    associatedtype Item: Sendable

    /// The client that the documents belong to.
    var client: StorageClient { get }
    /// The query that finds all documents.
    var everything: DocumentQuery { get }

    /// Returns the value of a document.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if the document does not match the type.
    func decode(_ document: Document) throws(StorageError) -> Item
}

/// The typed documents of one collection, addressed by id.
public protocol TypedCollection<Item>: TypedDocuments {
    /// The path of the collection.
    var path: CollectionPath { get }
}

extension TypedDocuments {
    /// Returns all values, in the order of their paths.
    ///
    /// To read a large collection page by page, use ``all``.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if a document, the `StorageError/resource`, does not match the
    ///   type.
    @concurrent
    public func findAll() async throws(StorageError) -> [Item] { try await find(everything) }

    /// Returns the values that match a query.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if a document, the `StorageError/resource`, does not match the
    ///   type.
    @concurrent
    public func query(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery
    ) async throws(StorageError) -> [Item] {
        try await find(try refined(refine))
    }

    /// Returns the first value that matches a query, or nil if there is none.
    ///
    /// - Throws: `StorageError/Code/decodingFailed`.
    @concurrent
    public func first(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Item? {
        try await find(try refined(refine).limit(to: 1)).first
    }

    /// Returns the number of documents that match a query.
    @concurrent
    public func count(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        try await client.count(try refined(refine))
    }

    /// Returns aggregate values over the documents that match a query; see ``StorageClient/aggregate(_:_:)``.
    ///
    /// - Returns: The values, in the order of the aggregations.
    /// - Throws: `StorageError/Code/invalidArgument` unless there are 1 to 5 aggregations.
    @concurrent
    public func aggregate(
        _ aggregations: [Aggregation],
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> [DocumentValue] {
        try await client.aggregate(try refined(refine), aggregations)
    }

    private func find(_ query: DocumentQuery) async throws(StorageError) -> [Item] {
        let documents = try await client.queryDocuments(query)
        var items: [Item] = []
        items.reserveCapacity(documents.count)
        for document in documents { items.append(try decode(document)) }
        return items
    }

    func refined(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) throws(StorageError) -> DocumentQuery {
        try everything.refined(refine)
    }
}

extension DocumentQuery {
    func refined(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) throws(StorageError) -> DocumentQuery {
        do {
            return try refine(self)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(
                .invalidArgument,
                "the closure that makes the query threw an error; see the cause",
                cause: error
            )
        }
    }
}

struct TypedReader<Item: Sendable>: Sendable {
    let client: StorageClient
    let everything: DocumentQuery
    let decode: @Sendable (Document) throws(StorageError) -> Item

    init(_ documents: some TypedDocuments<Item>) {
        client = documents.client
        everything = documents.everything
        decode = { document throws(StorageError) in try documents.decode(document) }
    }

    func query(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) -> Result<DocumentQuery, StorageError> {
        do throws(StorageError) {
            return .success(try everything.refined(refine))
        } catch {
            return .failure(error)
        }
    }
}

extension TypedCollection {
    /// Returns the value with an id.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none, `StorageError/Code/decodingFailed`.
    @concurrent
    public func get(_ id: String) async throws(StorageError) -> Item {
        try decode(try await client.getDocument(path.document(id)))
    }

    /// Returns the value with an id, or nil if there is none.
    ///
    /// - Throws: `StorageError/Code/decodingFailed`.
    @concurrent
    public func find(_ id: String) async throws(StorageError) -> Item? {
        guard let document = try await client.findDocument(path.document(id)) else { return nil }
        return try decode(document)
    }

    /// Returns the values with these ids, in the order of the ids; nil for a missing one.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if a document does not match the type.
    @concurrent
    public func find(_ ids: [String]) async throws(StorageError) -> [Item?] {
        let documents = try await client.findDocuments(ids.map(path.document))
        var items: [Item?] = []
        for document in documents {
            items.append(
                try document.map { document throws(StorageError) in
                    try decode(document)
                }
            )
        }
        return items
    }
}
