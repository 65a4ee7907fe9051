/// The result of a query at one moment, and how it differs from the snapshot before.
public struct QuerySnapshot: Sendable {
    /// The documents, in the query's order.
    public let documents: [Document]

    /// The steps that lead from the snapshot before to this one.
    ///
    /// Each step's indices refer to the list as the steps before it have left it, so that applying
    /// them in order to the old list gives the new one. The first snapshot adds every document.
    public let changes: [DocumentChange]

    /// Whether the result comes from a local copy that may be behind the server.
    public let isFromCache: Bool

    /// Creates a snapshot.
    public init(documents: [Document], changes: [DocumentChange], isFromCache: Bool = false) {
        self.documents = documents
        self.changes = changes
        self.isFromCache = isFromCache
    }

    /// Whether one of the documents has a write that the server has not accepted yet.
    public var hasPendingWrites: Bool { documents.contains(where: \.hasPendingWrites) }
}

/// One step from a query's result to the next.
public struct DocumentChange: Sendable, Hashable {
    /// What happened to the document.
    public enum Kind: Sendable, Hashable {
        /// It came into the result, at this index.
        case added(at: Int)
        /// It changed, and moved from one index to another, which may be the same.
        case modified(from: Int, to: Int)
        /// It left the result, where it had this index.
        case removed(from: Int)
    }

    /// What happened.
    public let kind: Kind
    /// The document as it is now; for a removed one, as it was in the result.
    public let document: Document

    /// Creates a step.
    public init(_ kind: Kind, _ document: Document) {
        self.kind = kind
        self.document = document
    }
}

extension Array {
    /// Applies the steps of a snapshot to a list that runs in parallel with its documents.
    package mutating func apply<Failure: Error>(
        _ changes: [DocumentChange],
        making element: (Document) throws(Failure) -> Element
    ) throws(Failure) {
        for change in changes {
            switch change.kind {
            case .added(let index): insert(try element(change.document), at: index)
            case .removed(let index): remove(at: index)
            case .modified(let old, let new):
                let replacement = try element(change.document)
                if old == new {
                    self[old] = replacement
                } else {
                    remove(at: old)
                    insert(replacement, at: new)
                }
            }
        }
    }
}
