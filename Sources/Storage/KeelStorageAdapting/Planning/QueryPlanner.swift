package import KeelDocuments

/// A planner that finds the declared index for a query.
///
/// The rules are those of Firestore's composite indexes: first the fields compared for equality, in any order, then the
/// ordered fields in the query's order, with the query's directions or all of them reversed. Conditions and orders on
/// the document's path need no index.
package struct QueryPlanner: Sendable {
    package struct Scan: Sendable, Hashable {
        package var index: IndexDefinition
        package var name: String
        package var range: KeyRange
        /// The length of the key prefix that the equalities fix, in bytes.
        package var fixedLength: Int
        package var isBackward: Bool
        package var orders: [DocumentQuery.Order]
        /// Whether the range contains exactly the query's documents.
        package var isExact: Bool
    }

    package enum Part: Sendable, Hashable {
        case index(Scan)
        case documents([DocumentPath])
        /// Read the query's collections in path order, within a range of path keys.
        case identifiers(KeyRange, isBackward: Bool)
    }

    package enum Access: Sendable, Hashable {
        /// Read the parts; the documents of a single part, other than a lookup, are in the result's order.
        case parts([Part])
        case scan(suggestion: IndexDefinition?)
    }

    package let indexes: [IndexDefinition]
    private let names: [String]

    package init(_ indexes: [IndexDefinition]) {
        self.indexes = indexes
        names = indexes.map(\.name)
    }

    /// Returns the access for a query, ignoring a text search.
    package func access(for prepared: PreparedQuery) -> Access {
        var parts: [Part] = []
        var named: [DocumentPath] = []
        for conjunction in Conjunction.all(of: prepared.query.filter) {
            if let path = conjunction.named {
                if !named.contains(path) { named.append(path) }
            } else if let scan = scan(for: conjunction, of: prepared) {
                parts.append(.index(scan))
            } else if let part = Self.identifiers(for: conjunction, of: prepared) {
                parts.append(part)
            } else {
                return .scan(suggestion: Self.suggestion(for: prepared, conjunction))
            }
        }
        return .parts(named.isEmpty ? parts : parts + [.documents(named)])
    }

    package func plan(for prepared: PreparedQuery) -> QueryPlan {
        switch access(for: prepared) {
        case .parts(let parts): QueryPlan(access: Self.reported(parts))
        case .scan(let suggestion): QueryPlan(access: .scan, suggestion: suggestion)
        }
    }

    /// Returns the access that a result reports: the first index, if any.
    package static func reported(_ parts: [Part]) -> QueryPlan.Access {
        for case .index(let scan) in parts { return .index(scan.name) }
        return .identifiers
    }

    private static func identifiers(
        for conjunction: Conjunction,
        of prepared: PreparedQuery
    ) -> Part? {
        guard conjunction.concernsPathAlone, let order = prepared.orders.first,
            order.field.isDocumentID
        else { return nil }
        var range = conjunction.range(of: prepared.orders).intersection(prepared.range)
        let isBackward = order.direction == .descending
        if isBackward { range = range.complemented() }
        if let ancestor = prepared.query.scope.ancestor {
            let below = IndexKey.key(ofAllBelow: ancestor)
            range = range.intersection(KeyRange(from: .before(below), to: .after(below)))
        }
        return .identifiers(range, isBackward: isBackward)
    }

    private func scan(for conjunction: Conjunction, of prepared: PreparedQuery) -> Scan? {
        let orders = conjunction.openOrders(of: prepared.orders)
        for (index, name) in zip(indexes, names) where Self.covers(index, prepared.query.scope) {
            let scan = Self.scan(index, name, for: conjunction, orders: orders, of: prepared)
            if let scan { return scan }
        }
        return nil
    }

    static func covers(_ index: IndexDefinition, _ scope: DocumentQuery.Scope) -> Bool {
        switch scope {
        case .collection(let path):
            index.scope == .collection && StoredName.same(index.collection, path.name)
        case .group(let name, _):
            index.scope == .group && StoredName.same(index.collection, name)
        case .everything: false
        }
    }

    private static func scan(
        _ index: IndexDefinition,
        _ name: String,
        for conjunction: Conjunction,
        orders: [DocumentQuery.Order],
        of prepared: PreparedQuery
    ) -> Scan? {
        // The last open order is the path, whose direction in an index is that of the last component.
        let fields = orders.dropLast()
        let equalities = index.components.count - fields.count
        guard equalities >= 0, equalities == conjunction.fixedCount else { return nil }
        guard let prefix = conjunction.prefix(for: index.components.prefix(equalities)) else {
            return nil
        }
        if index.isEqualityOnly, !fields.isEmpty { return nil }
        let directions = index.components.suffix(fields.count).map(\.direction)
        guard
            zip(index.components.suffix(fields.count), fields).allSatisfy({ component, order in
                component.isOrdered && component.field == order.field
            })
        else { return nil }
        let own = directions + [index.pathDirection]
        let wanted = orders.map(\.direction)
        let isBackward: Bool
        if own == wanted {
            isBackward = false
        } else if own == wanted.map(\.reversed) {
            isBackward = true
        } else {
            return nil
        }
        var bounds = EntryBounds(index, in: prepared.query.scope, orders: orders)
        var range = bounds.range(conjunction.range(of: orders))
        if orders.count == prepared.orders.count {
            range = range.intersection(bounds.range(from: prepared.lower, to: prepared.upper))
        }
        if isBackward { range = range.complemented() }
        range = bounds.whole(range.prefixed(by: prefix.bytes))
        let isUnbounded = prepared.lower == nil && prepared.upper == nil
        // Orders after the path do not affect the order, but exclude documents that lack the field.
        let endsWithPath = prepared.orders.last?.field.isDocumentID ?? false
        return Scan(
            index: index,
            name: name,
            range: range,
            fixedLength: prefix.bytes.count,
            isBackward: isBackward,
            orders: orders,
            isExact: endsWithPath && !prefix.isCut && !bounds.isCut
                && conjunction.isCovered(byOrder: orders.first)
                && (isUnbounded || orders.count == prepared.orders.count)
        )
    }

    private static func suggestion(
        for prepared: PreparedQuery,
        _ conjunction: Conjunction
    ) -> IndexDefinition? {
        suggestion(
            for: prepared.query.scope,
            conjunction.fixedComponents,
            conjunction.openOrders(of: prepared.orders).dropLast()
        )
    }

    static func suggestion(
        for scope: DocumentQuery.Scope,
        _ fixed: [IndexDefinition.Component],
        _ orders: [DocumentQuery.Order]
    ) -> IndexDefinition? {
        let components =
            fixed
            + orders.map { order in
                order.direction == .ascending
                    ? IndexDefinition.Component.ascending(order.field) : .descending(order.field)
            }
        // An index over fields does not help a lookup by path alone.
        guard !components.isEmpty else { return nil }
        switch scope {
        case .collection(let path): return IndexDefinition(path.name, components)
        case .group(let name, _): return IndexDefinition(name, scope: .group, components)
        case .everything: return nil
        }
    }
}

extension IndexDefinition {
    package var pathDirection: DocumentQuery.Direction {
        components.last?.direction ?? .ascending
    }
}

extension IndexDefinition.Component {
    package var direction: DocumentQuery.Direction {
        if case .descending = self { .descending } else { .ascending }
    }

    var isOrdered: Bool { if case .contains = self { false } else { true } }
}

extension PreparedQuery {
    package var range: KeyRange {
        KeyRange(
            from: lower.map { KeyRange.Cut(bytes: $0.prefix, isAfter: !$0.isInclusive) },
            to: upper.map { KeyRange.Cut(bytes: $0.prefix, isAfter: $0.isInclusive) }
        )
    }
}
