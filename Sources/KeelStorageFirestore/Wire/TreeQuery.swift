package import KeelStorage

/// A query over all collections at once: a `StructuredQuery` without a selector, or whose selector
/// names none.
///
/// Google's clients send it to walk or delete everything below a place. It can be ordered and bounded
/// by documents' names, and by nothing else.
package struct TreeQuery: Sendable {
    /// The document below which to look; nil is the root.
    package let parent: DocumentPath?
    /// Whether documents are found at any depth, or only those of the parent's own collections.
    package let isDeep: Bool
    /// Whether the last name comes first.
    package let isDescending: Bool
    /// Where to begin and to end, in the order of the query.
    package let start: Bound?, end: Bound?
    package let offset: Int
    package let limit: Int?
    /// The fields to return; nil is all of them.
    package let projection: [FieldPath]?

    /// A place in the order of names, and whether a document of that name is part of what is found.
    package struct Bound: Sendable {
        /// The segments of the name; those of a collection are the place before its first document.
        let segments: [String]
        let isInclusive: Bool

        /// The lowest id there can be, by which clients say "from the beginning of a collection".
        private static let lowestID = "__id\(Int64.min)__"

        init(_ name: DocumentPath, isInclusive: Bool) {
            let segments = name.string.split(separator: "/").map(String.init)
            self.segments = segments.last == Self.lowestID ? segments.dropLast() : segments
            self.isInclusive = isInclusive
        }

        /// Where a document is: before the place, at it, or behind it.
        func side(of path: DocumentPath) -> Int {
            let others = path.string.split(separator: "/").map(String.init)
            for (mine, other) in zip(segments, others) where !StoredName.same(mine, other) {
                return StoredName.precedes(other, mine) ? -1 : 1
            }
            return others.count - segments.count
        }
    }

    /// Whether a document is one of those, as far as its name tells.
    package func contains(_ path: DocumentPath) -> Bool {
        let prefix = parent.map { "\($0.string)/" } ?? ""
        guard path.string.utf8.starts(with: prefix.utf8) else { return false }
        let depth = path.string.utf8.dropFirst(prefix.utf8.count).count { $0 == UInt8(ascii: "/") }
        guard isDeep || depth == 1 else { return false }
        return isWithin(start, of: path, outside: isDescending ? 1 : -1)
            && isWithin(end, of: path, outside: isDescending ? -1 : 1)
    }

    private func isWithin(_ bound: Bound?, of path: DocumentPath, outside: Int) -> Bool {
        guard let bound else { return true }
        let side = bound.side(of: path).signum()
        return side == 0 ? bound.isInclusive : side != outside
    }

    /// Whether a document comes before another in the order of the query.
    package func precedes(_ left: DocumentPath, _ right: DocumentPath) -> Bool {
        isDescending ? right < left : left < right
    }
}

extension FirestoreDecoding {
    /// A `StructuredQuery` that names no collection; nil if it names one.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, or `unsupported` for conditions other than on
    ///   names by bounds.
    package func treeQuery(
        _ json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> TreeQuery? {
        guard let json, try json.list("from").count <= 1 else { return nil }
        let selector = try json.list("from").first
        guard try selector?.text("collectionId") ?? "" == "" else { return nil }
        let query = try clauses(of: json, over: DocumentQuery("tree"))
        guard query.filter == nil, query.search == nil else {
            throw StorageError(
                .unsupported,
                "a query over all collections can only be ordered and bounded by names"
            )
        }
        guard query.orders.allSatisfy({ $0.field.isDocumentID }) else {
            throw Self.flaw("a query over all collections can only be ordered by “__name__”")
        }
        guard selector != nil || query.orders.first?.direction != .descending else {
            throw Self.flaw("a query without “from” can only be ordered by ascending names")
        }
        var limit: Int?
        if case .first(let count) = query.limit { limit = count }
        return TreeQuery(
            parent: parent,
            isDeep: try selector?.flag("allDescendants") ?? false,
            isDescending: query.orders.first?.direction == .descending,
            start: try Self.name(query.start),
            end: try Self.name(query.end),
            offset: query.offset,
            limit: limit,
            projection: query.projection
        )
    }

    private static func name(
        _ bound: DocumentQuery.Bound?
    ) throws(StorageError) -> TreeQuery.Bound? {
        guard let bound else { return nil }
        guard case .reference(let name)? = bound.values.first, bound.values.count == 1 else {
            throw flaw("a bound of a query over all collections is no document’s name")
        }
        return TreeQuery.Bound(name, isInclusive: bound.isInclusive)
    }
}
