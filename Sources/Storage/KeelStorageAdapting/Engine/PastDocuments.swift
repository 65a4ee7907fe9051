package import KeelDocuments

/// The documents of a query's collections that differed at a past time.
package struct PastDocuments {
    /// The documents that differed, did not exist yet, or have since been removed.
    package var changed: Set<DocumentPath> = []
    /// The documents among them that the query would have found, with their sort keys.
    package private(set) var found: [(key: [UInt8], document: Document)] = []

    package init() {}

    /// Adds a document, and discards documents that are too far from the start to be needed.
    package mutating func take(_ document: Document, at key: [UInt8], within window: Int?) {
        found.append((key, document))
        guard let window, found.count > 2 * window + 1_000 else { return }
        found.sort { $0.key.lexicographicallyPrecedes($1.key) }
        found.removeLast(found.count - window)
    }
}
