package import KeelStorageAdapting

extension FirestoreEncoding {
    /// Encodes a `StructuredQuery`.
    ///
    /// Implied orders are omitted, unless a bound has values of them, which Google's servers accept only of named
    /// orders. Firestore has no `limit(toLast:)`: the equivalent is the reversed query, whose result the caller
    /// reverses.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - turnsRound: Whether to encode a limit from the end as the reversed query. Otherwise it is encoded as an
    ///     extension that only Keel's servers understand.
    /// - Returns: The message.
    /// - Throws: `StorageError/Code/unsupported` for a text search without Keel's extensions.
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
        let bounded = max(start?.values.count ?? 0, end?.values.count ?? 0)
        if !isExtended, bounded > orders.count {
            orders = Array(query.completeOrders.prefix(bounded))
        }
        return .members([
            "from": [selector(of: query.scope)],
            "select": query.projection.map(projection),
            "where": query.filter.map(filter),
            "orderBy": orders.isEmpty ? nil : .array(orders.map(order)),
            // `before` in a cursor selects the side of the values on which it lies.
            "startAt": start.map { cursor($0, isBefore: $0.isInclusive) },
            "endAt": end.map { cursor($0, isBefore: !$0.isInclusive) },
            "offset": query.offset > 0 ? .integer(Int64(query.offset)) : nil,
            "limit": query.limit.map { .integer(Int64($0.count)) },
            Self.extensionName: additions(query, limitsLast: limitsLast && !turnsRound),
        ])
    }

    /// Encodes an aggregation query, whose values are named by their positions.
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
        // The end from which a limit counts affects the order of documents, but no aggregated value.
        return ["structuredQuery": try self.query(query), "aggregations": .array(wanted)]
    }

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
        // In the protocol, selecting only the document's name means no fields.
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
