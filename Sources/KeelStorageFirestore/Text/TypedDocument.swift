public import KeelStorageAdapting

/// What a text in Firestore's typed form says of a document; times and revision may be left out.
public struct TypedDocument: Sendable, Hashable {
    /// Where the document is.
    public let path: DocumentPath
    /// The document's fields.
    public let fields: DocumentFields
    /// When the document was created.
    public let createTime: Timestamp?
    /// When the document was last changed.
    public let updateTime: Timestamp?
    /// The document's version, which only Keel writes.
    public let revision: Revision?

    /// The document as a store would keep it, where the text says all that takes.
    ///
    /// Without a revision, that of Firestore's documents is used: the update time in microseconds.
    public var document: Document? {
        guard let createTime, let updateTime else { return nil }
        return Document(
            path: path,
            body: DocumentBody(fields),
            revision: revision ?? Revision(number: updateTime.microseconds),
            createTime: createTime,
            updateTime: updateTime
        )
    }
}
