import KeelStorage

/// Keeps names of the form `__…__` out of reach of the protocol, but for whom they are meant.
///
/// Keel's own libraries keep records of their own in such collections, an outbox for example. A
/// client that asks for Keel's additions is one of them. What the server keeps for itself is out of
/// reach for everybody.
struct ReservedNames: Sendable {
    /// The collection that holds what the server keeps for itself.
    static let server = "__keel_sync__"

    /// Whether Keel's own records are allowed, apart from the server's.
    let allowsOwn: Bool

    /// Refuses a document that is out of reach, or whose path breaks a rule.
    ///
    /// A path below a reserved collection is refused too, wherever the reserved name stands in it.
    func check(_ path: DocumentPath) throws(StorageError) {
        if !allowsOwn || !isOwn(path.collection.string) { try DocumentValidation.check(path) }
        if let flaw = path.flaw { throw StorageError(.invalidArgument, flaw) }
        try check(path.string)
    }

    /// Refuses a collection that is out of reach, or whose path breaks a rule.
    func check(_ collection: CollectionPath) throws(StorageError) {
        if let flaw = collection.flaw { throw StorageError(.invalidArgument, flaw) }
        try check(collection.string)
    }

    /// Refuses a query of what is out of reach.
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

    /// Whether a document is a record of Keel's own, at the top of the store.
    func isOwn(_ path: DocumentPath) -> Bool { isOwn(path.collection.string) }

    private func isOwn(_ collection: String) -> Bool {
        StoredName.isReserved(collection) && !collection.utf8.contains(UInt8(ascii: "/"))
    }

    private func check(_ path: String) throws(StorageError) {
        // Most paths have no underscores side by side: look for them before taking it apart.
        let underscore = UInt8(ascii: "_")
        guard
            zip(path.utf8, path.utf8.dropFirst()).contains(where: { $0 == underscore && $1 == $0 })
        else { return }
        for (position, segment) in path.split(separator: "/").enumerated() {
            guard StoredName.isReserved(String(segment)) else { continue }
            if allowsOwn, position == 0, segment != Self.server { continue }
            throw StorageError(
                .invalidArgument,
                "“\(path)” has a segment of the reserved form “__…__”"
            )
        }
    }
}
