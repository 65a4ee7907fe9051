package import KeelStorage

extension FirestoreRequestCoding {
    /// A `StructuredQuery`.
    ///
    /// The implied orders are left to Firestore, which has the same; `limit(toLast:)`, which it has
    /// not, is the reversed query, whose result the caller turns round.
    ///
    /// - Throws: ``StorageError/Code/unsupported`` for a text search.
    package func query(_ query: DocumentQuery) throws(StorageError) -> FirestoreJSON {
        guard query.search == nil else {
            throw StorageError(.unsupported, "Firestore cannot search for words")
        }
        var members: [String: FirestoreJSON] = ["from": [selector(of: query.scope)]]
        if let fields = query.projection {
            // Only the document's name: that is how the protocol says "no fields".
            let wanted = fields.isEmpty ? [.documentID] : fields
            members["select"] = ["fields": .array(wanted.map(reference))]
        }
        members["where"] = query.filter.map(filter)
        var (orders, start, end) = (query.orders, query.start, query.end)
        if case .last = query.limit {
            orders = query.completeOrders.map { .init($0.field, $0.direction.reversed) }
            (start, end) = (end, start)
        }
        if !orders.isEmpty { members["orderBy"] = .array(orders.map(order)) }
        // A cursor's `before` says on which side of the values it stands.
        members["startAt"] = start.map { cursor($0, isBefore: $0.isInclusive) }
        members["endAt"] = end.map { cursor($0, isBefore: !$0.isInclusive) }
        if query.offset > 0 { members["offset"] = .number(Double(query.offset)) }
        if let limit = query.limit { members["limit"] = .number(Double(limit.count)) }
        return .object(members)
    }

    private func selector(of scope: DocumentQuery.Scope) -> FirestoreJSON {
        switch scope {
        case .collection(let collection): ["collectionId": .string(collection.name)]
        case .group(let name, _): ["collectionId": .string(name), "allDescendants": true]
        }
    }

    private func reference(to field: FieldPath) -> FirestoreJSON {
        ["fieldPath": .string(field.description)]
    }

    private func order(_ order: DocumentQuery.Order) -> FirestoreJSON {
        [
            "field": reference(to: order.field),
            "direction": order.direction == .ascending ? "ASCENDING" : "DESCENDING",
        ]
    }

    private func cursor(_ bound: DocumentQuery.Bound, isBefore: Bool) -> FirestoreJSON {
        var members: [String: FirestoreJSON] = ["values": .array(bound.values.map(value))]
        if isBefore { members["before"] = true }
        return .object(members)
    }

    // MARK: Filters

    private func filter(_ filter: DocumentFilter) -> FirestoreJSON {
        switch filter {
        case .and(let filters): composite("AND", filters)
        case .or(let filters): composite("OR", filters)
        case .field(let field, let comparison, let value):
            unary(comparison, value).map { name in
                ["unaryFilter": ["op": .string(name), "field": reference(to: field)]]
            } ?? [
                "fieldFilter": [
                    "op": .string(Self.name(of: comparison)),
                    "field": reference(to: field),
                    "value": self.value(value),
                ]
            ]
        }
    }

    private func composite(_ name: String, _ filters: [DocumentFilter]) -> FirestoreJSON {
        ["compositeFilter": ["op": .string(name), "filters": .array(filters.map(filter))]]
    }

    /// The filters on null and NaN, which the protocol has operators of their own for.
    private func unary(
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue
    ) -> String? {
        switch (comparison, value.isNull, value.isNaN) {
        case (.equal, true, _): "IS_NULL"
        case (.notEqual, true, _): "IS_NOT_NULL"
        case (.equal, _, true): "IS_NAN"
        case (.notEqual, _, true): "IS_NOT_NAN"
        default: nil
        }
    }

    private static func name(of comparison: DocumentFilter.Comparison) -> String {
        switch comparison {
        case .equal: "EQUAL"
        case .notEqual: "NOT_EQUAL"
        case .less: "LESS_THAN"
        case .lessOrEqual: "LESS_THAN_OR_EQUAL"
        case .greater: "GREATER_THAN"
        case .greaterOrEqual: "GREATER_THAN_OR_EQUAL"
        case .in: "IN"
        case .notIn: "NOT_IN"
        case .arrayContains: "ARRAY_CONTAINS"
        case .arrayContainsAny: "ARRAY_CONTAINS_ANY"
        }
    }
}
