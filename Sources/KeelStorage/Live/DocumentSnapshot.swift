/// A document at one moment, or the fact that there is none.
public struct DocumentSnapshot: Sendable, Hashable {
    /// The path that is listened to.
    public let path: DocumentPath
    /// The document; nil while there is none at the path, or where it cannot be read.
    public let document: Document?
    /// Why the document that is there cannot be read; nil otherwise.
    public let failure: UnreadableDocument?
    /// Whether the state comes from a local copy that may be behind the server.
    public let isFromCache: Bool

    /// Creates a snapshot.
    public init(
        path: DocumentPath,
        document: Document?,
        failure: UnreadableDocument? = nil,
        isFromCache: Bool = false
    ) {
        self.path = path
        self.document = document
        self.failure = failure
        self.isFromCache = isFromCache
    }

    /// Whether there is a document at the path, also one that cannot be read.
    public var exists: Bool { document != nil || failure != nil }

    /// Whether a write to the document has not been accepted by the server yet.
    public var hasPendingWrites: Bool { document?.hasPendingWrites ?? false }
}
