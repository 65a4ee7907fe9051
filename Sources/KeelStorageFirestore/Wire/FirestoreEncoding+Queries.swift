package import KeelStorageAdapting

extension FirestoreEncoding {
    /// A `StructuredQuery`.
    ///
    /// The implied orders are left to Firestore, which has the same. It has no `limit(toLast:)`:
    /// that is the reversed query, whose result the caller turns round.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - turnsRound: Whether a limit from the end is made of the reversed query; otherwise it is
    ///     told as it is, which only Keel's own servers understand.
    /// - Returns: The message.
    /// - Throws: `StorageError/Code/unsupported` for a text search that is not for a server of
    ///   Keel's.
    package func query(
        _ query: DocumentQuery,
        turnsRound: Bool = true
    ) throws(StorageError) -> FirestoreJSON {
        guard isExtended || query.search == nil else {
            throw StorageError(.unsupported, "Firestore cannot search for words")
        }
        let limitsLast = if case .last = query.limit { true } else { false }
        var (orders, start, end) = (query.orders, query.start, query.end)
        if limitsLast, turnsRound {
            orders = query.completeOrders.map { .init($0.field, $0.direction.reversed) }
            (start, end) = (end, start)
        }
        return .members([
            "from": [selector(of: query.scope)],
            "select": query.projection.map(projection),
            "where": query.filter.map(filter),
            "orderBy": orders.isEmpty ? nil : .array(orders.map(order)),
            // A cursor's `before` says on which side of the values it stands.
            "startAt": start.map { cursor($0, isBefore: $0.isInclusive) },
            "endAt": end.map { cursor($0, isBefore: !$0.isInclusive) },
            "offset": query.offset > 0 ? .integer(Int64(query.offset)) : nil,
            "limit": query.limit.map { .integer(Int64($0.count)) },
            Self.extensionName: additions(query, limitsLast: limitsLast && !turnsRound),
        ])
    }

    /// An `AggregationQuery`, whose values are named by their positions.
    ///
    /// - Throws: As for a query.
    package func aggregation(
        _ query: DocumentQuery,
        _ aggregations: [Aggregation]
    ) throws(StorageError) -> FirestoreJSON {
        let wanted = aggregations.enumerated().map { position, aggregation in
            let (name, operand) = operation(aggregation)
            return FirestoreJSON.members([
                "alias": .string(Self.alias(of: position)), name: operand,
            ])
        }
        // Which end a limit counts from changes the order of documents, and no value computed.
        return ["structuredQuery": try self.query(query), "aggregations": .array(wanted)]
    }

    /// The name of the value of an aggregation.
    package static func alias(of position: Int) -> String { "value_\(position)" }

    private func operation(_ aggregation: Aggregation) -> (name: String, operand: FirestoreJSON) {
        switch aggregation {
        case .count(let most):
            ("count", .members(["upTo": most.map { .string("\($0)") }]))
        case .sum(let field): ("sum", ["field": reference(to: field)])
        case .average(let field): ("avg", ["field": reference(to: field)])
        }
    }

    private func additions(_ query: DocumentQuery, limitsLast: Bool) -> FirestoreJSON? {
        guard limitsLast || query.search != nil else { return nil }
        let search = query.search.map { search in
            FirestoreJSON.members([
                "text": .string(search.text),
                "fields": search.fields.map { .array($0.map { .string($0.description) }) },
            ])
        }
        return .members(["limitsLast": limitsLast ? true : nil, "search": search])
    }

    private func projection(_ fields: [FieldPath]) -> FirestoreJSON {
        // Only the document's name: that is how the protocol says "no fields".
        let wanted = fields.isEmpty ? [.documentID] : fields
        return ["fields": .array(wanted.map(reference))]
    }

    private func selector(of scope: DocumentQuery.Scope) -> FirestoreJSON {
        switch scope {
        case .collection(let collection): ["collectionId": .string(collection.name)]
        case .group(let name, _): ["collectionId": .string(name), "allDescendants": true]
        case .everything: ["allDescendants": true]
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
        .members([
            "values": .array(bound.values.map(value)), "before": isBefore ? true : nil,
        ])
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
