public import KeelStorageAdapting

/// A document decoded from Firestore's typed JSON, in which times and revision are optional.
public struct TypedDocument: Sendable, Hashable {
    /// The document's path.
    public let path: DocumentPath
    /// The document's fields.
    public let fields: DocumentFields
    /// The time at which the document was created.
    public let createTime: Timestamp?
    /// The time at which the document was last changed.
    public let updateTime: Timestamp?
    /// The document's revision, which only Keel writes.
    public let revision: Revision?

    /// The document as stored; nil if a time is missing.
    ///
    /// If the text has no revision, the revision is the update time in microseconds, as for Firestore's documents.
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
