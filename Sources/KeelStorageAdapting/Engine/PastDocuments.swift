package import KeelDocuments

/// What of the collections of a query was otherwise at a time.
package struct PastDocuments {
    /// Documents that were others, or were not there, or are not there any more.
    package var changed: Set<DocumentPath> = []
    /// Those of them that the query would have found, with their places in its order.
    package private(set) var found: [(key: [UInt8], document: Document)] = []

    package init() {}

    /// Takes a document, and lets go of those that are too far from the beginning to be wanted.
    package mutating func take(_ document: Document, at key: [UInt8], within window: Int?) {
        found.append((key, document))
        guard let window, found.count > 2 * window + 1_000 else { return }
        found.sort { $0.key.lexicographicallyPrecedes($1.key) }
        found.removeLast(found.count - window)
    }
}
