package import KeelStorageAdapting

/// A query over all collections directly below a document or the root: a `StructuredQuery` without a selector, or with
/// a selector without a collection name and without `allDescendants`.
///
/// Google's clients use it to walk the collections below a document. It can be ordered and bounded only by document
/// names.
package struct ChildrenQuery: Sendable {
    /// Nil for the root.
    package let parent: DocumentPath?
    /// The order, bounds, offset, limit and projection, for any of the collections.
    package let clauses: DocumentQuery

    package var isDescending: Bool { clauses.orders.first?.direction == .descending }

    package func names(in collection: CollectionPath) -> DocumentQuery {
        var query = DocumentQuery(collection)
            .order(by: .documentID, isDescending ? .descending : .ascending).select()
        (query.start, query.end) = (clauses.start, clauses.end)
        return query
    }
}

extension FirestoreDecoding {
    /// Decodes a `StructuredQuery` over the collections of a document; returns nil for a query over one collection or
    /// all descendants.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, or `unsupported` for conditions other than bounds on names.
    package func childrenQuery(
        _ json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> ChildrenQuery? {
        guard let json, try json.list("from").count <= 1 else { return nil }
        let selector = try json.list("from").first
        guard try selector?.text("collectionId") ?? "" == "",
            try selector?.flag("allDescendants") != true
        else { return nil }
        var query = try clauses(of: json, over: .everything(under: parent))
        guard query.filter == nil, query.search == nil else {
            throw StorageError(
                .unsupported,
                "a query over all collections of a document can only be ordered and bounded by names"
            )
        }
        guard query.orders.allSatisfy({ $0.field.isDocumentID }) else {
            throw Self.flaw("a query over all collections can only be ordered by “__name__”")
        }
        guard selector != nil || query.orders.first?.direction != .descending else {
            throw Self.flaw("a query without “from” can only be ordered by ascending names")
        }
        query.start = try Self.named(query.start, isStart: true)
        query.end = try Self.named(query.end, isStart: false)
        return ChildrenQuery(parent: parent, clauses: query)
    }

    private static func named(
        _ bound: DocumentQuery.Bound?,
        isStart: Bool
    ) throws(StorageError) -> DocumentQuery.Bound? {
        guard let bound else { return nil }
        guard case .reference? = bound.values.first, bound.values.count == 1 else {
            throw flaw("a bound of a query over all collections is not a document name")
        }
        return placed(bound, isStart: isStart)
    }
}
