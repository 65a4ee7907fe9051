/// A document at one moment, or the fact that there is none.
public struct DocumentSnapshot: Sendable, Hashable {
    /// The path that is listened to.
    public let path: DocumentPath
    /// The document; nil while there is none at the path.
    public let document: Document?
    /// Whether the state comes from a local copy that may be behind the server.
    public let isFromCache: Bool

    /// Creates a snapshot.
    public init(path: DocumentPath, document: Document?, isFromCache: Bool = false) {
        self.path = path
        self.document = document
        self.isFromCache = isFromCache
    }

    /// Whether there is a document at the path.
    public var exists: Bool { document != nil }

    /// Whether a write to the document has not been accepted by the server yet.
    public var hasPendingWrites: Bool { document?.hasPendingWrites ?? false }
}
