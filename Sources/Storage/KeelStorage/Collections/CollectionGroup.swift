public import KeelDocuments

/// The documents of all collections with one name, as values of one type.
///
/// ```swift
/// let ratings = storage.collectionGroup("ratings", as: Rating.self)
/// let best = try await ratings.query { $0.where(.equal("stars", 5)) }
/// for rating in try await ratings.versioned.findAll() { print(rating.path, rating.value.stars) }
/// ```
///
/// ``TypedDocuments/versioned`` adds the path of each value. To write, use the collection itself.
public struct CollectionGroup<Element: Decodable & Sendable>: TypedDocuments {
    public let client: StorageClient
    /// The name of the collections.
    public let name: String
    /// The document below which the collections are; nil for the whole store.
    public let ancestor: DocumentPath?
    /// The decoder of documents.
    public let decoder: DocumentDecoder

    public var everything: DocumentQuery { DocumentQuery(group: name, under: ancestor) }

    public func decode(_ document: Document) throws(StorageError) -> Element {
        try decoder.decode(Element.self, from: document)
    }
}

extension StorageClient {
    /// Returns a typed view of all collections with a name, or only of those below a document.
    public func collectionGroup<Element: Decodable & Sendable>(
        _ name: String,
        under ancestor: DocumentPath? = nil,
        as type: Element.Type,
        decoder: DocumentDecoder = DocumentDecoder()
    ) -> CollectionGroup<Element> {
        CollectionGroup(client: self, name: name, ancestor: ancestor, decoder: decoder)
    }
}
