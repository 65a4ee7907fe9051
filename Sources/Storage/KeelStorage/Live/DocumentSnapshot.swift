public import KeelDocuments

/// A document at one moment, or the fact that there is none.
public struct DocumentSnapshot: Sendable, Hashable {
    /// The path of the document.
    public let path: DocumentPath
    /// The document; nil if there is none, or if it cannot be read.
    public let document: Document?
    /// The reason why an existing document cannot be read; nil otherwise.
    public let failure: UnreadableDocument?

    init(
        path: DocumentPath,
        document: Document?,
        failure: UnreadableDocument? = nil
    ) {
        self.path = path
        self.document = document
        self.failure = failure
    }

    /// Whether there is a document at the path, including one that cannot be read.
    public var exists: Bool { document != nil || failure != nil }
}
