import KeelStorage
import KeelStorageFirestore

struct UnreadableDocuments: Sendable {
    /// The maximum number of reported documents; a reply with more fails as a whole.
    static let most = UnreadableDocument.mostPassedOver
    private static let mostNamed = 10

    private var documents: [DocumentPath: UnreadableDocument] = [:]

    private var sorted: [UnreadableDocument] { documents.values.sorted { $0.path < $1.path } }

    func contains(_ path: DocumentPath) -> Bool { documents[path] != nil }

    /// Adds the documents of a page; several pages may report the same document.
    mutating func add(_ more: [UnreadableDocument]) throws(StorageError) {
        for document in more { documents[document.path] = document }
        if documents.count > Self.most, let error { throw error }
    }

    /// The error that names the documents; nil if there are none.
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

    func list(_ encoding: FirestoreEncoding) -> FirestoreJSON? {
        guard !documents.isEmpty else { return nil }
        return .array(sorted.map { encoding.unreadable($0) })
    }
}
