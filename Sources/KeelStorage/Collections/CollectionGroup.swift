public import KeelDocuments

/// The documents of every collection with one name, as values of one type.
///
/// ```swift
/// let ratings = storage.collectionGroup("ratings", as: Rating.self)
/// let best = try await ratings.query { $0.where(.equal("stars", 5)) }
/// for rating in try await ratings.versioned.findAll() { print(rating.path, rating.value.stars) }
/// ```
///
/// ``TypedDocuments/versioned`` tells the place of each value, and with ``Versioned/parent`` the
/// document that its collection belongs to. To write, use the collection itself.
public struct CollectionGroup<Element: Decodable & Sendable>: TypedDocuments {
    public let client: StorageClient
    /// The name that the collections have.
    public let name: String
    /// The document below which the collections are; nil for the whole store.
    public let ancestor: DocumentPath?
    /// How documents become values.
    public let decoder: DocumentDecoder

    public var everything: DocumentQuery { DocumentQuery(group: name, under: ancestor) }

    public func decode(_ document: Document) throws(StorageError) -> Element {
        try decoder.decode(Element.self, from: document)
    }
}

extension StorageClient {
    /// Returns a typed view of all collections that have a name.
    ///
    /// - Parameters:
    ///   - name: The collections' own name, the last part of their paths.
    ///   - ancestor: The document below which they are; nil for the whole store.
    ///   - type: The type of the values.
    ///   - decoder: How documents become values.
    /// - Returns: The view, which reads nothing by itself.
    public func collectionGroup<Element: Decodable & Sendable>(
        _ name: String,
        under ancestor: DocumentPath? = nil,
        as type: Element.Type,
        decoder: DocumentDecoder = DocumentDecoder()
    ) -> CollectionGroup<Element> {
        CollectionGroup(client: self, name: name, ancestor: ancestor, decoder: decoder)
    }
}
