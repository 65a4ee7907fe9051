package import KeelDocuments

/// One alternative of a filter in disjunctive normal form: conditions that must all hold.
package struct Conjunction: Sendable, Hashable {
    struct Constant: Sendable, Hashable {
        var field: FieldPath
        var key: [UInt8]
    }

    struct Inequality: Sendable, Hashable {
        var field: FieldPath
        var comparison: DocumentFilter.Comparison
        var key: [UInt8]
    }

    var equalities: [Constant] = []
    var memberships: [Constant] = []
    var inequalities: [Inequality] = []
    /// The distinct fields of the equalities, without the path: it is not an index field, and the evaluator checks
    /// conditions on it.
    private var equalFields: [FieldPath] = []
    /// The document that an equality identifies, which may fail the other conditions.
    package private(set) var named: DocumentPath?
    /// Whether the keys match more than the conditions: null and NaN, where these match nothing.
    var findsMore = false

    /// Returns the alternatives of a filter; a missing filter has one alternative without conditions.
    package static func all(of filter: DocumentFilter?) -> [Conjunction] {
        switch filter {
        case nil: [Conjunction()]
        case .or(let filters)?: filters.flatMap(all)
        case .and(let filters)?:
            filters.reduce([Conjunction()]) { partial, filter in
                let alternatives = all(of: filter)
                return partial.flatMap { one in alternatives.map(one.merged) }
            }
        case .field(let field, let comparison, let value)?:
            alternatives(field, comparison, value)
        }
    }

    private static func alternatives(
        _ field: FieldPath,
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue
    ) -> [Conjunction] {
        switch comparison {
        case .equal: [equality(field, value)]
        case .in: findable(value).map { equality(field, $0).checking($0) }
        case .arrayContains: [membership(field, value).checking(value)]
        case .arrayContainsAny: findable(value).map { membership(field, $0).checking($0) }
        case .notEqual, .notIn, .less, .lessOrEqual, .greater, .greaterOrEqual:
            [
                Conjunction(inequalities: [
                    Inequality(field: field, comparison: comparison, key: IndexKey.key(value))
                ]).checking(value)
            ]
        }
    }

    /// Returns the members of a list that can match.
    ///
    /// If there are none, one member remains, so that there is an alternative to look up.
    private static func findable(_ list: DocumentValue) -> [DocumentValue] {
        let values = list.arrayValue ?? []
        let findable = values.filter(\.isFindable)
        return findable.isEmpty ? Array(values.prefix(1)) : findable
    }

    private func checking(_ value: DocumentValue) -> Conjunction {
        var copy = self
        copy.findsMore = !value.isFindable
        return copy
    }

    private static func equality(_ field: FieldPath, _ value: DocumentValue) -> Conjunction {
        var one = Conjunction(equalities: [Constant(field: field, key: IndexKey.key(value))])
        if !field.isDocumentID { one.equalFields = [field] }
        if field.isDocumentID, case .reference(let path) = value { one.named = path }
        return one
    }

    private static func membership(_ field: FieldPath, _ value: DocumentValue) -> Conjunction {
        Conjunction(memberships: [Constant(field: field, key: IndexKey.key(value))])
    }

    private func merged(_ other: Conjunction) -> Conjunction {
        var both = self
        both.equalities += other.equalities
        both.memberships += other.memberships
        both.inequalities += other.inequalities
        both.equalFields += other.equalFields.filter { !equalFields.contains($0) }
        both.named = named ?? other.named
        both.findsMore = findsMore || other.findsMore
        return both
    }

    var concernsPathAlone: Bool {
        memberships.isEmpty && equalities.allSatisfy(\.field.isDocumentID)
            && inequalities.allSatisfy(\.field.isDocumentID)
    }

    var fixedCount: Int { equalFields.count + (memberships.isEmpty ? 0 : 1) }

    var fixedComponents: [IndexDefinition.Component] {
        memberships.prefix(1).map { .contains($0.field) }
            + equalFields.sorted().map { .ascending($0) }
    }

    func openOrders(of orders: [DocumentQuery.Order]) -> [DocumentQuery.Order] {
        let path = orders.firstIndex(where: \.field.isDocumentID) ?? orders.endIndex
        return orders[...min(path, orders.count - 1)].filter { !equalFields.contains($0.field) }
    }

    /// Returns the bytes of the first components of an index, and whether a constant in them is cut; nil if the
    /// components do not correspond to the equalities and the membership.
    func prefix(
        for components: ArraySlice<IndexDefinition.Component>
    ) -> (bytes: [UInt8], isCut: Bool)? {
        let areDistinct = components.indices.allSatisfy { position in
            !components[..<position].contains(components[position])
        }
        guard areDistinct, components.count == fixedCount else { return nil }
        var prefix: [UInt8] = []
        var isCut = false
        for component in components {
            let start = prefix.count
            let source: [Constant]
            switch component {
            case .contains: source = memberships
            case .ascending, .descending: source = equalities
            }
            guard let constant = source.first(where: { $0.field == component.field }) else {
                return nil
            }
            prefix += component.direction == .descending ? constant.key.map(~) : constant.key
            if EntryKey.cutComponent(&prefix, from: start) { isCut = true }
        }
        if EntryKey.cutWhole(&prefix) { isCut = true }
        return (prefix, isCut)
    }

    func isCovered(byOrder order: DocumentQuery.Order?) -> Bool {
        // Only the document can be checked for a second condition on a field or for a condition on the path.
        !findsMore && equalities.count == equalFields.count && memberships.count <= 1
            && inequalities.allSatisfy { inequality in
                switch inequality.comparison {
                case .less, .lessOrEqual, .greater, .greaterOrEqual:
                    inequality.field == order?.field
                default: false
                }
            }
    }

    func range(of orders: [DocumentQuery.Order]) -> KeyRange {
        guard let first = orders.first else { return KeyRange() }
        let ascending = inequalities.filter { $0.field == first.field }
            .reduce(KeyRange()) { $0.intersection($1.range) }
        return first.direction == .ascending ? ascending : ascending.complemented()
    }
}

extension Conjunction.Inequality {
    var range: KeyRange {
        switch comparison {
        case .less: KeyRange(from: IndexKey.start(ofKindOf: key), to: .before(key))
        case .lessOrEqual: KeyRange(from: IndexKey.start(ofKindOf: key), to: .after(key))
        case .greater: KeyRange(from: .after(key), to: IndexKey.end(ofKindOf: key))
        case .greaterOrEqual: KeyRange(from: .before(key), to: IndexKey.end(ofKindOf: key))
        default: KeyRange(from: .after(IndexKey.null))
        }
    }
}
