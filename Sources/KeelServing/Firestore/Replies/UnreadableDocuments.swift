import KeelStorage
import KeelStorageFirestore

/// The documents that a reply would have had to look at, and that the store could not read.
struct UnreadableDocuments: Sendable {
    /// The most that are told one by one; a reply with more fails as a whole.
    static let most = UnreadableDocument.mostPassedOver
    /// The most that the message of an error names.
    private static let mostNamed = 10

    private var documents: [DocumentPath: UnreadableDocument] = [:]

    private var sorted: [UnreadableDocument] { documents.values.sorted { $0.path < $1.path } }

    /// Whether a document is one of them.
    func contains(_ path: DocumentPath) -> Bool { documents[path] != nil }

    /// Adds those of a page; one can be met by several pages.
    mutating func add(_ more: [UnreadableDocument]) throws(StorageError) {
        for document in more { documents[document.path] = document }
        if documents.count > Self.most, let error { throw error }
    }

    /// The error that names them, for a client that has not asked for their list; nil if there are none.
    var error: StorageError? {
        let sorted = sorted
        guard let first = sorted.first else { return nil }
        let names = sorted.prefix(Self.mostNamed)
            .map { "“\($0.path)” (\($0.error.code.name): \($0.error.message))" }
            .joined(separator: ", ")
        let rest = sorted.count - min(sorted.count, Self.mostNamed)
        return StorageError(
            first.error.code,
            "\(sorted.count) documents cannot be read: \(names)"
                + (rest > 0 ? " and \(rest) others" : ""),
            resource: first.path.string
        )
    }

    /// What Keel adds to a reply to a client that has asked for it; nil if all could be read.
    func list(_ encoding: FirestoreEncoding) -> FirestoreJSON? {
        guard !documents.isEmpty else { return nil }
        return .array(sorted.map { encoding.unreadable($0) })
    }
}
