public import KeelDocuments

/// Documents that are read as values of one type.
///
/// A ``DocumentCollection`` is the documents of one place, a ``CollectionGroup`` those of every
/// collection with one name. Both are queried, counted, paged through and listened to in the same way,
/// and so is what ``versioned`` makes of either: each value with its revision.
public protocol TypedDocuments<Item>: Sendable {
    /// The type that each document is read as.
    associatedtype Item: Sendable

    /// The client that the documents belong to.
    var client: StorageClient { get }
    /// The query that finds all of the documents.
    var everything: DocumentQuery { get }

    /// Returns the value of a document.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if the document does not have the type's form.
    func decode(_ document: Document) throws(StorageError) -> Item
}

/// The typed documents of one collection, which an id names.
public protocol TypedCollection<Item>: TypedDocuments {
    /// Where the documents are.
    var path: CollectionPath { get }
}

extension TypedDocuments {
    /// Returns all values, in the order of their ids.
    ///
    /// The result is as large as the collection: ``all`` reads a large one page by page.
    @concurrent
    public func findAll() async throws(StorageError) -> [Item] { try await find(everything) }

    /// Returns the values that a query finds.
    ///
    /// - Throws: `StorageError/Code/decodingFailed` if one of the documents does not have the
    ///   type's form; the message names it.
    @concurrent
    public func query(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery
    ) async throws(StorageError) -> [Item] {
        try await find(try refined(refine))
    }

    /// Returns the first value that a query finds.
    @concurrent
    public func first(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Item? {
        try await find(try refined(refine).limit(to: 1)).first
    }

    /// Returns how many documents a query finds.
    @concurrent
    public func count(
        _ refine: @Sendable (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) async throws(StorageError) -> Int {
        try await client.count(try refined(refine))
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
    /// The query that a closure of the app makes of this one.
    func refined(
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) throws(StorageError) -> DocumentQuery {
        do {
            return try refine(self)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.invalidArgument, "the query could not be made", cause: error)
        }
    }
}

/// What a sequence of values keeps of the documents that it reads.
struct TypedReader<Item: Sendable>: Sendable {
    let client: StorageClient
    let everything: DocumentQuery
    let decode: @Sendable (Document) throws(StorageError) -> Item

    init(_ documents: some TypedDocuments<Item>) {
        client = documents.client
        everything = documents.everything
        decode = { document throws(StorageError) in try documents.decode(document) }
    }

    init(
        _ client: StorageClient,
        _ query: DocumentQuery,
        decode: @escaping @Sendable (Document) throws(StorageError) -> Item
    ) {
        self.client = client
        everything = query
        self.decode = decode
    }

    /// The query that a closure of the app makes, or why it could not.
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
