public import KeelDocuments

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
/// If your module isolates declarations to the main actor by default, declare the element type as `nonisolated struct`.
public struct DocumentCollection<Element: Codable & Sendable>: TypedCollection {
    public let client: StorageClient
    public let path: CollectionPath
    /// The encoder of values.
    public let encoder: DocumentEncoder
    /// The decoder of documents.
    public let decoder: DocumentDecoder

    public var everything: DocumentQuery { DocumentQuery(path) }

    public func decode(_ document: Document) throws(StorageError) -> Element {
        try decoder.decode(Element.self, from: document)
    }

    /// Returns the collection with another encoder and decoder.
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
}
