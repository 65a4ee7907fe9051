import KeelStorage

/// Access rules for names of the form `__…__`.
///
/// Keel's libraries store their own records, such as an outbox, in collections with such names at the root. Clients
/// that request Keel's extensions can access them, but not the server's own records.
struct ReservedNames: Sendable {
    static let server = "__keel_sync__"

    let allowsOwn: Bool

    /// Rejects a document that is inaccessible or has an invalid path.
    ///
    /// Documents in subcollections of a reserved collection, and reserved names below the root, are always rejected.
    func check(_ path: DocumentPath) throws(StorageError) {
        if !allowsOwn || !isOwn(path.collection.string) { try DocumentValidation.check(path) }
        if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
        try check(path.string)
    }

    func check(_ collection: CollectionPath) throws(StorageError) {
        if let flaw = collection.flaw { throw StorageError(.invalidArgument, flaw) }
        try check(collection.string)
    }

    func check(_ scope: DocumentQuery.Scope) throws(StorageError) {
        switch scope {
        case .collection(let collection): try check(collection)
        case .group(let name, let ancestor):
            try check(name)
            if let ancestor { try check(ancestor) }
        case .everything(let ancestor):
            if let ancestor { try check(ancestor) }
        }
    }

    /// Returns whether a document is a record of Keel's libraries, in a reserved collection at the root.
    func isOwn(_ path: DocumentPath) -> Bool { isOwn(path.collection.string) }

    private func isOwn(_ collection: String) -> Bool {
        StoredName.isReserved(collection) && !collection.utf8.contains(UInt8(ascii: "/"))
    }

    private func check(_ path: String) throws(StorageError) {
        // A fast path: most paths do not contain consecutive underscores.
        let underscore = UInt8(ascii: "_")
        guard
            zip(path.utf8, path.utf8.dropFirst()).contains(where: { $0 == underscore && $1 == $0 })
        else { return }
        for (position, segment) in StoredName.segments(of: path).enumerated() {
            guard StoredName.isReserved(segment) else { continue }
            if allowsOwn, position == 0, segment != Self.server { continue }
            throw StorageError(
                .invalidArgument,
                "“\(path)” has a segment of the reserved form “__…__”"
            )
        }
    }
}
