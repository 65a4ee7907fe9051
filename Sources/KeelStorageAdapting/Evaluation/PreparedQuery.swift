package import KeelDocuments

/// A query made ready for evaluation: conditions and order as comparisons of index keys.
///
/// It is the one definition of what a query means, used by the memory adapter, by SQLite for what
/// its indexes leave open, and by listeners.
package struct PreparedQuery: Sendable {
    /// The query, as validated.
    package private(set) var query: DocumentQuery
    /// The order of evaluation: reversed for `limit(toLast:)`.
    package let orders: [DocumentQuery.Order]
    /// Whether the result is found back to front and turned round at the end.
    package let isReversed: Bool
    /// The most documents in the result.
    package let limit: Int?

    package let filter: CompiledFilter?
    private let sort: SortKey
    /// The first sort key that belongs to the result.
    package let lower: KeyBound?
    /// The last sort key that belongs to the result.
    package let upper: KeyBound?

    /// Prepares a query that ``QueryValidation`` has accepted.
    package init(_ query: DocumentQuery) {
        self.query = query
        var orders = query.completeOrders
        if case .last = query.limit {
            isReversed = true
            orders = orders.map { DocumentQuery.Order($0.field, $0.direction.reversed) }
        } else {
            isReversed = false
        }
        self.orders = orders
        limit = query.limit?.count
        filter = query.filter.map { CompiledFilter($0, scope: query.scope) }
        sort = SortKey(orders)
        let first = query.start.map { KeyBound($0, orders: orders) }
        let last = query.end.map { KeyBound($0, orders: orders) }
        (lower, upper) = isReversed ? (last, first) : (first, last)
    }

    /// The number of documents that must be known to answer, nil for all.
    package var window: Int? { limit.map { $0 + query.offset } }

    /// Lowers the offset by documents that were passed over and will not be found.
    package mutating func passOver(_ count: Int) { query.offset -= count }

    /// Whether the query looks into this collection.
    package func covers(_ collection: CollectionPath) -> Bool {
        switch query.scope {
        case .collection(let wanted):
            wanted == collection
        case .group(let name, let ancestor):
            StoredName.same(collection.name, name) && Self.lies(collection, below: ancestor)
        case .everything(let ancestor):
            Self.lies(collection, below: ancestor) && !collection.hasReservedSegment
        }
    }

    private static func lies(_ collection: CollectionPath, below ancestor: DocumentPath?) -> Bool {
        ancestor.map { collection.string.hasBytePrefix($0.string + "/") } ?? true
    }

    /// The document's place in the order, or nil if it is not part of the result.
    ///
    /// Limit and offset are not looked at: they concern the result as a whole.
    package func place(of document: Document) -> [UInt8]? {
        if let filter, !filter.matches(document) { return nil }
        guard let key = sort.key(of: document) else { return nil }
        if let lower, !lower.admitsAsLower(key) { return nil }
        if let upper, !upper.admitsAsUpper(key) { return nil }
        return key
    }

    /// Whether the document fulfils the conditions, whatever its place.
    package func matches(_ document: Document) -> Bool { filter?.matches(document) ?? true }

    /// Puts found documents into order and cuts them to offset, limit and projection.
    ///
    /// - Parameters:
    ///   - places: The documents that were found, with their places.
    ///   - isCancellable: Whether the work ends when its task is cancelled.
    /// - Returns: The result.
    /// - Throws: `StorageError/Code/cancelled`, and nothing else.
    package func result(
        of places: [(key: [UInt8], document: Document)],
        isCancellable: Bool = true
    ) throws(StorageError) -> [Document] {
        var sorted = places
        try Self.sort(&sorted, isCancellable: isCancellable)
        return try cut(sorted.map(\.document), isCancellable: isCancellable)
    }

    /// Puts documents into the order of their places.
    ///
    /// - Throws: `StorageError/Code/cancelled`, and nothing else.
    package static func sort(
        _ places: inout [(key: [UInt8], document: Document)],
        isCancellable: Bool
    ) throws(StorageError) {
        var check = CancellationCheck(isOn: isCancellable)
        do {
            try places.sort { left, right in
                try check.step()
                return left.key.lexicographicallyPrecedes(right.key)
            }
        } catch {
            throw .cancellation
        }
    }

    /// Cuts documents that are in the order of evaluation to offset, limit and projection.
    ///
    /// - Throws: `StorageError/Code/cancelled`, and nothing else.
    package func cut(
        _ ordered: [Document],
        isCancellable: Bool = true
    ) throws(StorageError) -> [Document] {
        var documents = ordered[...].dropFirst(query.offset)
        if let limit { documents = documents.prefix(limit) }
        guard query.projection != nil else {
            return isReversed ? documents.reversed() : Array(documents)
        }
        var check = CancellationCheck(isOn: isCancellable)
        var projected: [Document] = []
        projected.reserveCapacity(documents.count)
        for document in documents {
            try check.step()
            projected.append(project(document))
        }
        return isReversed ? projected.reversed() : projected
    }

    /// The document with the fields that the query selects.
    package func project(_ document: Document) -> Document {
        guard let fields = query.projection else { return document }
        return Document(
            path: document.path,
            body: document.body.selecting(fields),
            revision: document.revision,
            createTime: document.createTime,
            updateTime: document.updateTime
        )
    }
}

/// The part of a sort key that a query's start or end fixes.
package struct KeyBound: Sendable {
    /// The keys of the bound's values, each in its order's direction.
    package let parts: [[UInt8]]
    /// The parts joined.
    package let prefix: [UInt8]
    /// Whether documents with just these values belong to the result.
    package let isInclusive: Bool

    init(_ bound: DocumentQuery.Bound, orders: [DocumentQuery.Order]) {
        parts = zip(bound.values, orders).map { value, order in
            var part: [UInt8] = []
            IndexKey.append(value, order.direction, to: &part)
            return part
        }
        prefix = Array(parts.joined())
        isInclusive = bound.isInclusive
    }

    package func admitsAsLower(_ key: [UInt8]) -> Bool {
        // No key is a proper prefix of another, so that "starts with the prefix" means "has
        // exactly these values".
        if key.starts(with: prefix) { return isInclusive }
        return !key.lexicographicallyPrecedes(prefix)
    }

    package func admitsAsUpper(_ key: [UInt8]) -> Bool {
        if key.starts(with: prefix) { return isInclusive }
        return key.lexicographicallyPrecedes(prefix)
    }
}

extension String {
    /// Whether the string's bytes begin with those of `prefix`.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
