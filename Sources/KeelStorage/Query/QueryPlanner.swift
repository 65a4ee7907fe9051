/// Finds the declared index that serves a query.
///
/// The rules are those of Firestore's composite indexes: the fields compared for equality first, in
/// any order, then the ordered fields in the query's order with the query's directions, or all of
/// them reversed. The planner knows no database; an adapter runs the scans it names.
package struct QueryPlanner: Sendable {
    /// One stretch of an index to read.
    package struct Scan: Sendable, Hashable {
        package var index: IndexDefinition
        /// The stretch, in the index's own keys.
        package var range: KeyRange
        /// How many bytes at the beginning of the range's keys the equalities fix.
        package var fixedLength: Int
        /// Whether to read it from its end.
        package var isBackward: Bool
        /// Whether the stretch holds the query's documents and no others, so that its entries can
        /// be counted without a look at the documents.
        package var isExact: Bool
    }

    /// The way to a query's documents.
    package enum Access: Sendable, Hashable {
        /// Read these; a single one is in the result's order, several need a merge.
        case index([Scan])
        /// Read the collection in the order of its ids.
        case identifiers(isBackward: Bool)
        /// Look at every document.
        case scan(suggestion: IndexDefinition?)
    }

    package let indexes: [IndexDefinition]

    package init(_ indexes: [IndexDefinition]) { self.indexes = indexes }

    /// Plans a prepared query, leaving a text search aside.
    package func access(for prepared: PreparedQuery) -> Access {
        let conjunctions = Conjunction.all(of: prepared.query.filter)
        if conjunctions.count == 1, prepared.query.filter == nil,
            let order = prepared.orders.first, order.field.isDocumentID,
            case .collection = prepared.query.scope
        {
            return .identifiers(isBackward: order.direction == .descending)
        }
        var scans: [Scan] = []
        for conjunction in conjunctions {
            guard let scan = scan(for: conjunction, of: prepared) else {
                return .scan(suggestion: Self.suggestion(for: prepared, conjunction))
            }
            scans.append(scan)
        }
        return .index(scans)
    }

    /// How a query would be answered, as the result reports it.
    package func plan(for prepared: PreparedQuery) -> QueryPlan {
        switch access(for: prepared) {
        case .index(let scans): QueryPlan(access: .index(scans[0].index.name))
        case .identifiers: QueryPlan(access: .identifiers)
        case .scan(let suggestion): QueryPlan(access: .scan, suggestion: suggestion)
        }
    }

    private func scan(for conjunction: Conjunction, of prepared: PreparedQuery) -> Scan? {
        let orders = conjunction.openOrders(of: prepared.orders)
        return indexes.lazy
            .filter { Self.covers($0, prepared.query.scope) }
            .compactMap { Self.scan($0, for: conjunction, orders: orders, of: prepared) }
            .first
    }

    private static func covers(_ index: IndexDefinition, _ scope: DocumentQuery.Scope) -> Bool {
        switch scope {
        case .collection(let path):
            index.scope == .collection && StoredName.same(index.collection, path.name)
        case .group(let name, _):
            index.scope == .group && StoredName.same(index.collection, name)
        }
    }

    private static func scan(
        _ index: IndexDefinition,
        for conjunction: Conjunction,
        orders: [DocumentQuery.Order],
        of prepared: PreparedQuery
    ) -> Scan? {
        // The last open order is the path, which an index holds in its last component's direction.
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
        var range = conjunction.range(of: orders)
        if orders.count == prepared.orders.count { range = range.intersection(prepared.range) }
        if isBackward { range = range.complemented() }
        let isUnbounded = prepared.lower == nil && prepared.upper == nil
        // An order behind the path decides nothing, but what lacks its field is not in the result.
        let endsWithPath = prepared.orders.last?.field.isDocumentID ?? false
        return Scan(
            index: index,
            range: range.prefixed(by: prefix),
            fixedLength: prefix.count,
            isBackward: isBackward,
            isExact: endsWithPath && conjunction.isCovered(byOrder: orders.first)
                && (isUnbounded || orders.count == prepared.orders.count)
        )
    }

    private static func suggestion(
        for prepared: PreparedQuery,
        _ conjunction: Conjunction
    ) -> IndexDefinition? {
        let fields = conjunction.openOrders(of: prepared.orders).dropLast()
        let components =
            conjunction.fixedComponents
            + fields.map { order in
                order.direction == .ascending
                    ? IndexDefinition.Component.ascending(order.field) : .descending(order.field)
            }
        // What is looked up by the path alone cannot be helped by an index over fields.
        guard !components.isEmpty else { return nil }
        switch prepared.query.scope {
        case .collection(let path): return IndexDefinition(path.name, components)
        case .group(let name, _): return IndexDefinition(name, scope: .group, components)
        }
    }
}

extension IndexDefinition {
    /// The direction in which entries with equal fields are ordered by path.
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
    /// The stretch of sort keys between the query's start and end.
    package var range: KeyRange {
        KeyRange(
            from: lower.map { KeyRange.Cut(bytes: $0.prefix, isAfter: !$0.isInclusive) },
            to: upper.map { KeyRange.Cut(bytes: $0.prefix, isAfter: $0.isInclusive) }
        )
    }
}
