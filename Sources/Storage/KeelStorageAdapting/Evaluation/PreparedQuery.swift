package import KeelDocuments

/// A query prepared for evaluation, with its conditions and order compiled to comparisons of index keys.
///
/// It is the single definition of query semantics, for all adapters and for listeners.
package struct PreparedQuery: Sendable {
    package private(set) var query: DocumentQuery
    /// The order of evaluation: reversed for `limit(toLast:)`.
    package let orders: [DocumentQuery.Order]
    /// Whether the result is found in reverse and reversed at the end.
    package let isReversed: Bool
    package let limit: Int?

    package let filter: CompiledFilter?
    private let sort: SortKey
    package let lower: KeyBound?
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

    /// The number of leading documents needed for the answer; nil for all.
    package var window: Int? { limit.map { $0 + query.offset } }

    package mutating func passOver(_ count: Int) { query.offset -= count }

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

    /// Returns the document's sort key; nil if the document is not in the result.
    ///
    /// Limit and offset are ignored.
    package func place(of document: Document) -> [UInt8]? {
        if let filter, !filter.matches(document) { return nil }
        guard let key = sort.key(of: document) else { return nil }
        if let lower, !lower.admitsAsLower(key) { return nil }
        if let upper, !upper.admitsAsUpper(key) { return nil }
        return key
    }

    package func matches(_ document: Document) -> Bool { filter?.matches(document) ?? true }

    /// Returns the result: sorts the documents that were found and applies offset, limit and projection.
    ///
    /// - Throws: `StorageError/Code/cancelled` if `isCancellable` and the task is canceled; no other error.
    package func result(
        of places: [(key: [UInt8], document: Document)],
        isCancellable: Bool = true
    ) throws(StorageError) -> [Document] {
        var sorted = places
        try Self.sort(&sorted, isCancellable: isCancellable)
        return try cut(sorted.map(\.document), isCancellable: isCancellable)
    }

    /// Sorts documents by their sort keys.
    ///
    /// - Throws: Only `StorageError/Code/cancelled`.
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

    /// Applies offset, limit and projection to documents in the order of evaluation.
    ///
    /// - Throws: Only `StorageError/Code/cancelled`.
    package func cut(
        _ ordered: [Document],
        isCancellable: Bool = true
    ) throws(StorageError) -> [Document] {
        let isWhole =
            query.offset == 0 && query.projection == nil && !isReversed
            && ordered.count <= limit ?? .max
        if isWhole { return ordered }
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

    package func project(_ document: Document) -> Document {
        guard let fields = query.projection else { return document }
        return document.with(document.body.selecting(fields))
    }
}

package struct KeyBound: Sendable {
    /// The keys of the bound's values, in the directions of their orders.
    package let parts: [[UInt8]]
    package let prefix: [UInt8]
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
        // No key is a proper prefix of another, so a key with this prefix has exactly these values.
        if key.starts(with: prefix) { return isInclusive }
        return !key.lexicographicallyPrecedes(prefix)
    }

    package func admitsAsUpper(_ key: [UInt8]) -> Bool {
        if key.starts(with: prefix) { return isInclusive }
        return key.lexicographicallyPrecedes(prefix)
    }
}

extension String {
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

/// A check that ends long in-memory work soon after its task is canceled.
package struct CancellationCheck: Sendable {
    private static let interval: UInt32 = 64

    private let isOn: Bool
    private var count: UInt32 = 0

    /// Creates a check; pass false for work shared by several tasks.
    package init(isOn: Bool = true) { self.isOn = isOn }

    /// Counts a step, and checks every 64 steps.
    ///
    /// - Throws: `StorageError/Code/cancelled` if the task was canceled.
    package mutating func step() throws(StorageError) {
        count &+= 1
        guard count.isMultiple(of: Self.interval), isOn, Task.isCancelled else { return }
        throw .cancellation
    }
}
