public import KeelDocuments

/// A document at one moment, or the fact that there is none.
public struct DocumentSnapshot: Sendable, Hashable {
    /// The path that is listened to.
    public let path: DocumentPath
    /// The document; nil while there is none at the path, or where it cannot be read.
    public let document: Document?
    /// Why the document that is there cannot be read; nil otherwise.
    public let failure: UnreadableDocument?

    /// Creates a snapshot.
    init(
        path: DocumentPath,
        document: Document?,
        failure: UnreadableDocument? = nil
    ) {
        self.path = path
        self.document = document
        self.failure = failure
    }

    /// Whether there is a document at the path, also one that cannot be read.
    public var exists: Bool { document != nil || failure != nil }
}
