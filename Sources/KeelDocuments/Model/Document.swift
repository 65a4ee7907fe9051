/// A document as a store keeps it: a path, an encoded body, and what the store knows about it.
public struct Document: Sendable, Hashable {
    /// Where the document is.
    public let path: DocumentPath
    /// The fields, as deterministic CBOR (RFC 8949); see ``DocumentBody``.
    public let body: DocumentBody
    /// The document's version.
    public let revision: Revision
    /// When the document was created, by the store's clock.
    public let createTime: Timestamp
    /// When the document was last changed, by the store's clock; a write that changes nothing leaves it as it is.
    ///
    /// It is later with every change, also where the clock was set back or the document was removed in
    /// between. Two documents may have the same.
    public let updateTime: Timestamp

    /// Creates a document; adapters do, apps read them.
    public init(
        path: DocumentPath,
        body: DocumentBody,
        revision: Revision,
        createTime: Timestamp,
        updateTime: Timestamp
    ) {
        self.path = path
        self.body = body
        self.revision = revision
        self.createTime = createTime
        self.updateTime = updateTime
    }

    /// The document's id within its collection.
    public var id: String { path.id }

    /// The document's fields, decoded.
    ///
    /// - Throws: ``StorageError/Code/corrupted`` if the body is not an encoded set of fields.
    public func fields() throws(StorageError) -> DocumentFields { try body.fields() }

    /// The value of one field, decoded without the others; nil where it is missing or damaged.
    public subscript(field: FieldPath) -> DocumentValue? { body.value(at: field) }
}
