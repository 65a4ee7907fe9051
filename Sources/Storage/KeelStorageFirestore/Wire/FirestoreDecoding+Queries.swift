package import KeelStorageAdapting

extension FirestoreDecoding {
    /// Decodes a `StructuredQuery` below a document, or below the root of the database.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, or `unsupported` for a vector search. For a query over all
    ///   collections of a document, see ``ChildrenQuery``.
    package func query(
        _ json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> DocumentQuery {
        guard let json else { throw Self.flaw("“structuredQuery” is missing") }
        guard json.member("findNearest") == nil else {
            throw StorageError(
                .unsupported,
                "vectors can be stored and ordered, but “findNearest” is not available"
            )
        }
        var query = try clauses(of: json, over: try scope(try json.list("from"), under: parent))
        if case .everything = query.scope {
            query.start = query.start.map { Self.placed($0, isStart: true) }
            query.end = query.end.map { Self.placed($0, isStart: false) }
        }
        return query
    }

    /// The lowest possible id, which clients use for the beginning of a collection.
    private static let lowestID = "__id\(Int64.min)__"

    static func placed(
        _ bound: DocumentQuery.Bound,
        isStart: Bool
    ) -> DocumentQuery.Bound {
        guard case .reference(let name)? = bound.values.first, bound.values.count == 1,
            name.id == lowestID
        else { return bound }
        let first = DocumentPath(name.collection, "\u{0}")
        return DocumentQuery.Bound([.reference(first)], isInclusive: isStart)
    }

    func clauses(
        of json: FirestoreJSON,
        over scope: DocumentQuery
    ) throws(StorageError) -> DocumentQuery {
        var query = scope
        query.filter = try json.object("where").map { json throws(StorageError) in
            try filter(json)
        }
        for order in try json.list("orderBy") { query.orders.append(try self.order(order)) }
        query.start = try bound("startAt", of: json, inclusiveWhenBefore: true)
        query.end = try bound("endAt", of: json, inclusiveWhenBefore: false)
        query.offset = try count("offset", of: json) ?? 0
        let limit = try count("limit", of: json)
        let addition = try addition(to: json)
        let limitsLast = try addition?.flag("limitsLast") ?? false
        query.limit = limit.map { limitsLast ? .last($0) : .first($0) }
        query.search = try addition?.object("search").map { json throws(StorageError) in
            try search(json)
        }
        query.projection = try json.object("select").map { json throws(StorageError) in
            try projection(json)
        }
        return query
    }

    /// Decodes a `StructuredAggregationQuery` into the query and the named aggregations.
    ///
    /// - Throws: As for a query.
    package func aggregation(
        _ json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> (query: DocumentQuery, wanted: [(alias: String, Aggregation)]) {
        guard let json else { throw Self.flaw("“structuredAggregationQuery” is missing") }
        let query = try query(try json.object("structuredQuery"), under: parent)
        var wanted: [(alias: String, Aggregation)] = []
        // Aggregations without a name are named `field_1`, `field_2` and so on, in their own order.
        var unnamed = 0
        for element in try json.list("aggregations") {
            var alias = try element.text("alias") ?? ""
            if alias.isEmpty {
                unnamed += 1
                alias = "field_\(unnamed)"
            }
            wanted.append((alias, try aggregation(element)))
        }
        // The texts begin like Google's, which its tests expect.
        guard !wanted.isEmpty else { throw Self.flaw("Aggregations can not be empty") }
        guard Set(wanted.map(\.alias)).count == wanted.count else {
            throw Self.flaw("Aggregation aliases contain duplicate alias: give each its own")
        }
        return (query, wanted)
    }

    private func aggregation(_ json: FirestoreJSON) throws(StorageError) -> Aggregation {
        if let count = try json.object("count") {
            return .count(upTo: try self.count("upTo", of: count))
        }
        if let sum = try json.object("sum") { return .sum(try reference(sum)) }
        if let average = try json.object("avg") { return .average(try reference(average)) }
        throw Self.flaw("an aggregation has none of “count”, “sum” and “avg”")
    }

    private func scope(
        _ selectors: [FirestoreJSON],
        under parent: DocumentPath?
    ) throws(StorageError) -> DocumentQuery {
        guard let selector = selectors.first, selectors.count == 1 else {
            throw Self.flaw("“from” has \(selectors.count) collections and should have one")
        }
        let isDeep = try selector.flag("allDescendants") ?? false
        guard let name = try selector.text("collectionId"), !name.isEmpty else {
            guard isDeep else {
                throw StorageError(
                    .unsupported,
                    "a query over all collections of a document is not available here"
                )
            }
            return .everything(under: parent)
        }
        if isDeep {
            return DocumentQuery(group: name, under: parent)
        }
        let collection = parent?.collection(name) ?? CollectionPath(segments: [name])
        return DocumentQuery(collection)
    }

    /// Decodes a nonnegative number, which may be wrapped in an object with a `value`.
    private func count(_ name: String, of json: FirestoreJSON) throws(StorageError) -> Int? {
        guard let value = json.member(name) else { return nil }
        let number = value.wholeNumber ?? value["value"]?.wholeNumber
        guard let number, number >= 0, number <= Int64(Int32.max) else {
            throw Self.flaw("“\(name)” is not an integer between 0 and \(Int32.max)")
        }
        return Int(number)
    }

    private func projection(_ json: FirestoreJSON) throws(StorageError) -> [FieldPath] {
        var fields: [FieldPath] = []
        for element in try json.list("fields") {
            let field = try self.field(try element.text("fieldPath"))
            // The name is always included; selected alone, it means no fields.
            if !field.isDocumentID { fields.append(field) }
        }
        return fields
    }

    private func search(_ json: FirestoreJSON) throws(StorageError) -> TextSearch {
        var fields: [FieldPath]?
        if json.member("fields") != nil {
            fields = []
            for element in try json.list("fields") { fields?.append(try field(element.text)) }
        }
        return TextSearch(try json.text("text") ?? "", in: fields)
    }

    // MARK: Orders and cursors

    private func order(_ json: FirestoreJSON) throws(StorageError) -> DocumentQuery.Order {
        let direction = json.member("direction") ?? "ASCENDING"
        switch direction {
        case "ASCENDING", .integer(1), "DIRECTION_UNSPECIFIED", .integer(0):
            return DocumentQuery.Order(try reference(json), .ascending)
        case "DESCENDING", .integer(2): return DocumentQuery.Order(try reference(json), .descending)
        default: throw Self.flaw("“direction” is neither ASCENDING nor DESCENDING")
        }
    }

    private func bound(
        _ name: String,
        of json: FirestoreJSON,
        inclusiveWhenBefore: Bool
    ) throws(StorageError) -> DocumentQuery.Bound? {
        guard let cursor = try json.object(name) else { return nil }
        let isBefore = try cursor.flag("before") ?? false
        return DocumentQuery.Bound(
            try values(cursor),
            isInclusive: isBefore == inclusiveWhenBefore
        )
    }

    private func reference(_ json: FirestoreJSON) throws(StorageError) -> FieldPath {
        guard let reference = try json.object("field") else {
            throw Self.flaw("“field” is missing")
        }
        return try field(try reference.text("fieldPath"))
    }

    // MARK: Filters

    private func filter(_ json: FirestoreJSON) throws(StorageError) -> DocumentFilter {
        if let composite = try json.object("compositeFilter") {
            var filters: [DocumentFilter] = []
            for element in try composite.list("filters") { filters.append(try filter(element)) }
            switch composite.member("op") {
            case "AND", .integer(1): return .and(filters)
            case "OR", .integer(2): return .or(filters)
            default: throw Self.flaw("the operator of a composite filter is neither AND nor OR")
            }
        }
        if let comparison = try json.object("fieldFilter") {
            guard let value = try comparison.object("value") else {
                throw Self.flaw("a filter has no value")
            }
            return Self.filter(
                try reference(comparison),
                try Self.comparison(comparison.member("op")),
                try self.value(value)
            )
        }
        if let unary = try json.object("unaryFilter") {
            let field = try reference(unary)
            switch unary.member("op") {
            case "IS_NAN", .integer(2): return .field(field, .equal, .double(.nan))
            case "IS_NULL", .integer(3): return .field(field, .equal, .null)
            case "IS_NOT_NAN", .integer(4): return .field(field, .notEqual, .double(.nan))
            case "IS_NOT_NULL", .integer(5): return .field(field, .notEqual, .null)
            default: throw Self.flaw("unknown operator of a unary filter")
            }
        }
        throw Self.flaw("a filter has none of “compositeFilter”, “fieldFilter” and “unaryFilter”")
    }

    /// Returns the filter of a comparison, with the protocol's meaning of equality for null and NaN.
    ///
    /// To find null and NaN, clients send `IS_NULL`, `IS_NAN` and their opposites. `EQUAL` matches neither. `NOT_EQUAL`
    /// matches nothing if compared with null, and everything except null if compared with NaN.
    private static func filter(
        _ field: FieldPath,
        _ comparison: DocumentFilter.Comparison,
        _ value: DocumentValue
    ) -> DocumentFilter {
        switch comparison {
        case .equal where !value.isFindable: .in(field, [value])
        case .notEqual where value.isNull: .less(field, .null)
        case .notEqual where value.isNaN: .notEqual(field, .null)
        default: .field(field, comparison, value)
        }
    }

    /// The operators by name and number, from `StructuredQuery.FieldFilter.Operator`.
    private static let comparisons: [(String, Int64, DocumentFilter.Comparison)] = [
        ("LESS_THAN", 1, .less), ("LESS_THAN_OR_EQUAL", 2, .lessOrEqual),
        ("GREATER_THAN", 3, .greater), ("GREATER_THAN_OR_EQUAL", 4, .greaterOrEqual),
        ("EQUAL", 5, .equal), ("NOT_EQUAL", 6, .notEqual), ("ARRAY_CONTAINS", 7, .arrayContains),
        ("IN", 8, .in), ("ARRAY_CONTAINS_ANY", 9, .arrayContainsAny), ("NOT_IN", 10, .notIn),
    ]

    private static func comparison(
        _ json: FirestoreJSON?
    ) throws(StorageError) -> DocumentFilter.Comparison {
        let found = comparisons.first { json == .string($0.0) || json == .integer($0.1) }
        guard let found else { throw flaw("unknown operator of a filter") }
        return found.2
    }
}
