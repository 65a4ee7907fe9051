package import KeelDocuments

extension QueryPlanner {
    /// Finds an index without which Google's server would refuse a query.
    ///
    /// Google's server keeps indexes of each single field, in both directions, for queries on one collection. Other
    /// queries need declared indexes. For several equalities, it merges indexes that end with the same orders:
    /// https://firebase.google.com/docs/firestore/query-data/index-overview
    ///
    /// The direction of an order by path after other orders is ignored: Keel's indexes cannot declare it.
    ///
    /// - Parameters:
    ///   - prepared: The query.
    ///   - aggregations: The values that are computed, whose fields must be in the index too.
    /// - Returns: The index; nil if Google's server would answer.
    package func missingComposite(
        for prepared: PreparedQuery,
        _ aggregations: [Aggregation] = []
    ) -> IndexDefinition? {
        guard prepared.query.search == nil else { return nil }
        return Conjunction.all(of: prepared.query.filter).lazy
            .filter { $0.named == nil }
            .compactMap { missingComposite(for: $0, of: prepared, aggregations) }
            .first
    }

    private func missingComposite(
        for conjunction: Conjunction,
        of prepared: PreparedQuery,
        _ aggregations: [Aggregation]
    ) -> IndexDefinition? {
        let fixed = conjunction.fixedComponents
        var orders = Array(conjunction.openOrders(of: prepared.orders).dropLast())
        for field in aggregations.compactMap(\.field)
        where !orders.contains(where: { $0.field == field })
            && !fixed.contains(where: { $0.field == field && $0.isOrdered })
        {
            orders.append(DocumentQuery.Order(field))
        }
        let needed = Self.suggestion(for: prepared.query.scope, fixed, orders)
        switch prepared.query.scope {
        case .collection:
            // Indexes of single fields, which Google's server merges if there are only equalities.
            if orders.isEmpty || fixed.isEmpty && orders.count == 1 { return nil }
        case .group: if fixed.isEmpty, orders.isEmpty { return nil }
        case .everything: return nil
        }
        var found: [IndexDefinition.Component] = []
        var isOrdered = false
        for index in indexes where Self.covers(index, prepared.query.scope) {
            guard let prefix = Self.prefix(of: index, before: orders),
                prefix.allSatisfy({ component in fixed.contains { component.finds($0) } })
            else { continue }
            found += prefix
            isOrdered = true
        }
        let isComplete = fixed.allSatisfy { component in found.contains { $0.finds(component) } }
        return isOrdered && isComplete ? nil : needed
    }

    private static func prefix(
        of index: IndexDefinition,
        before orders: [DocumentQuery.Order]
    ) -> ArraySlice<IndexDefinition.Component>? {
        let end = index.components.suffix(orders.count)
        guard end.count == orders.count, !index.isEqualityOnly || orders.isEmpty,
            zip(end, orders).allSatisfy({ $0.isOrdered && $0.field == $1.field })
        else { return nil }
        let (own, wanted) = (end.map(\.direction), orders.map(\.direction))
        guard own == wanted || own == wanted.map(\.reversed) else { return nil }
        return index.components.dropLast(orders.count)
    }
}

extension IndexDefinition.Component {
    /// Whether the component finds what another one does; directions do not matter for equality.
    fileprivate func finds(_ other: Self) -> Bool {
        field == other.field && isOrdered == other.isOrdered
    }
}
