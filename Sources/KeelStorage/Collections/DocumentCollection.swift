/// A collection whose documents are values of one type.
///
/// ```swift
/// struct Restaurant: Codable, Identifiable {
///     var id: String
///     var name: String
///     var borough: String
/// }
///
/// let restaurants = storage.collection("restaurants", as: Restaurant.self)
/// try await restaurants.save(Restaurant(id: "1", name: "Wilson's", borough: "Bronx"))
/// let inTheBronx = try await restaurants.query { $0.where(.equal("borough", "Bronx")) }
/// ```
///
/// It is a value that costs nothing to make. In an app whose types belong to the main actor by
/// default, declare the element `nonisolated struct`, so that it can be decoded elsewhere.
public struct DocumentCollection<Element: Codable & Sendable>: Sendable {
    /// The client that the collection belongs to.
    public let client: StorageClient
    /// Where the documents are.
    public let path: CollectionPath
    /// How values become documents.
    public let encoder: DocumentEncoder
    /// How documents become values.
    public let decoder: DocumentDecoder

    /// The query for all documents of the collection.
    public var all: DocumentQuery { DocumentQuery(path) }

    /// The same collection with other rules for encoding and decoding.
    public func coding(_ encoder: DocumentEncoder, _ decoder: DocumentDecoder) -> Self {
        Self(client: client, path: path, encoder: encoder, decoder: decoder)
    }
}

extension StorageClient {
    /// Returns a typed view of a collection.
    public func collection<Element: Codable & Sendable>(
        _ path: CollectionPath,
        as type: Element.Type
    ) -> DocumentCollection<Element> {
        DocumentCollection(
            client: self,
            path: path,
            encoder: DocumentEncoder(),
            decoder: DocumentDecoder()
        )
    }

    /// Returns the document at a path as a value.
    ///
    /// - Throws: ``StorageError/Code/documentNotFound``, ``StorageError/Code/decodingFailed``.
    @concurrent
    public func getDocument<Value: Decodable & Sendable>(
        _ path: DocumentPath,
        as type: Value.Type
    ) async throws(StorageError) -> Value {
        try DocumentDecoder().decode(type, from: try await getDocument(path))
    }

    /// Stores a value at a path, replacing what is there.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed``, or the code of `condition`.
    @discardableResult
    @concurrent
    public func setDocument<Value: Encodable & Sendable>(
        _ path: DocumentPath,
        to value: Value,
        if condition: WriteCondition = .none
    ) async throws(StorageError) -> CommitReceipt {
        let encoded = try DocumentEncoder().encodeDocument(value)
        let operation = DocumentWrite.Operation.set(encoded.body, transforms: encoded.transforms)
        return try await write(DocumentWrite(path, operation, if: condition), for: "setDocument")
    }
}
