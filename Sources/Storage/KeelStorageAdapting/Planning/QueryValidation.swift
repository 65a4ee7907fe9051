package import KeelDocuments

/// The rules for queries, which the client checks before an adapter sees a query.
///
/// They are those of Firestore.
package enum QueryValidation {
    private typealias Comparisons = [(
        field: FieldPath, comparison: DocumentFilter.Comparison, value: DocumentValue
    )]

    /// The maximum number of alternatives from `in`, `arrayContainsAny` and their combinations.
    package static let mostDisjunctions = 30
    package static let mostExclusions = 10
    /// The maximum number of conditions and orders together, each of which is evaluated for every document.
    package static let mostConditions = 1_000
    /// The maximum number of fields that a read selects, each of which is looked up in every document.
    package static let mostSelected = 10_000
    /// The maximum number of words of a search, each of which takes memory of the store.
    package static let mostWords = 100
    /// The maximum limit and offset, as in Firestore's protocol; sums and multiples of them fit an `Int`.
    package static let mostDocuments = min(Int(Int32.max), Int.max / 8)
    /// The maximum length of a constant's index key, in bytes: that of a 1,499-byte string.
    private static let longestConstant = 1_502

    /// Checks a query and returns it with compared ids converted to references, and with limit and offset reduced to
    /// ``mostDocuments``.
    package static func checked(_ query: DocumentQuery) throws(StorageError) -> DocumentQuery {
        try checkScope(query)
        let comparisons = query.filter?.comparisons ?? []
        // With the implied orders, which a client names in its requests for further pages.
        let count = comparisons.count + query.completeOrders.count
        guard count <= mostConditions else {
            throw invalid(
                "the query has \(count) conditions and orders; the maximum is \(mostConditions)"
            )
        }
        try checkConstants(query, comparisons)
        var query = query
        if let filter = query.filter {
            query.filter = try resolved(filter, in: query.scope)
            try checkFilter(query, comparisons)
        }
        try checkOrders(query)
        try checkFields(query, comparisons)
        query.limit = query.limit.map(reduced)
        query.offset = min(query.offset, mostDocuments)
        query.start = try resolved(query.start, of: query, name: "start")
        query.end = try resolved(query.end, of: query, name: "end")
        try check(selection: query.projection)
        for path in query.projection ?? [] { try check(path) }
        if let search = query.search {
            for path in search.fields ?? [] { try check(path) }
            let count = search.terms.count
            guard count > 0 else {
                throw invalid("a search needs at least one word of letters or digits")
            }
            guard count <= mostWords else {
                throw invalid("a search has \(count) words; the maximum is \(mostWords)")
            }
            guard search.fields?.isEmpty != true else {
                throw invalid("a search needs at least one field; nil searches all of them")
            }
        }
        return query
    }

    /// Throws ``StorageError/Code/invalidArgument`` for too many fields to read.
    package static func check(selection fields: [FieldPath]?) throws(StorageError) {
        guard let count = fields?.count, count > mostSelected else { return }
        throw invalid("a read selects \(count) fields; the maximum is \(mostSelected)")
    }

    private static func reduced(_ limit: DocumentQuery.Limit) -> DocumentQuery.Limit {
        switch limit {
        case .first(let count): .first(min(count, mostDocuments))
        case .last(let count): .last(min(count, mostDocuments))
        }
    }

    private static func checkScope(_ query: DocumentQuery) throws(StorageError) {
        switch query.scope {
        case .collection(let collection):
            if let flaw = collection.flaw { throw invalid(flaw) }
            try checkPlace(collection.string)
        case .group(let name, let ancestor):
            if let flaw = StoredName.flaw(inSegment: name, allowingReserved: true) {
                throw invalid("the collection group’s name “\(name)” \(flaw)")
            }
            if let flaw = ancestor?.flaw { throw invalid(flaw) }
            if let ancestor { try checkPlace(ancestor.string) }
        case .everything(let ancestor):
            if let flaw = ancestor?.flaw { throw invalid(flaw) }
            if let ancestor { try checkPlace(ancestor.string) }
        }
        if let limit = query.limit, limit.count < 0 { throw invalid("a limit cannot be negative") }
        if query.offset < 0 { throw invalid("an offset cannot be negative") }
    }

    private static func checkConstants(
        _ query: DocumentQuery,
        _ comparisons: Comparisons
    ) throws(StorageError) {
        for (field, _, value) in comparisons {
            guard let flaw = value.flaw else { continue }
            throw StorageError(
                .encodingFailed,
                "“\(field)” is compared with a value that cannot be stored: \(flaw)"
            )
        }
        let constants = comparisons.flatMap { _, comparison, value in
            comparison.takesList ? value.arrayValue ?? [] : [value]
        }
        let bounds = (query.start?.values ?? []) + (query.end?.values ?? [])
        if let flaw = (constants + bounds).lazy.compactMap(\.vectorValue?.flaw).first {
            throw invalid(flaw)
        }
        if let flaw = bounds.lazy.compactMap(\.flaw).first {
            throw StorageError(
                .encodingFailed,
                "a start or an end has a value that cannot be stored: \(flaw)"
            )
        }
    }

    /// Throws for a path with a reserved name below the top level, where Keel has its own collections.
    private static func checkPlace(_ path: String) throws(StorageError) {
        guard path.utf8.contains(UInt8(ascii: "_")) else { return }
        if StoredName.segments(of: path).dropFirst().contains(where: StoredName.isReserved) {
            throw invalid("“\(path)” has a segment of the reserved form “__…__”")
        }
    }

    private static func checkFilter(
        _ query: DocumentQuery,
        _ comparisons: Comparisons
    ) throws(StorageError) {
        for (field, comparison, value) in comparisons {
            try check(field)
            try check(comparison, of: field, with: value)
        }
        let exclusions = comparisons.filter { [.notEqual, .notIn].contains($0.comparison) }
        guard exclusions.count <= 1 else {
            throw invalid("a query can have one notEqual or one notIn")
        }
        if exclusions.first?.comparison == .notIn {
            let clashes = comparisons.contains { [.in, .arrayContainsAny].contains($0.comparison) }
            guard !clashes, !containsDisjunction(query.filter) else {
                throw invalid("notIn cannot be combined with in, arrayContainsAny or or")
            }
        }
        guard memberships(of: query.filter) <= 1 else {
            throw invalid(
                "an and can have at most one arrayContains or arrayContainsAny; apply the other "
                    + "to the results"
            )
        }
        guard disjunctions(of: query.filter) <= mostDisjunctions else {
            throw invalid(
                "the query has more than \(mostDisjunctions) alternatives after its ors and lists "
                    + "are multiplied out; split it"
            )
        }
    }

    /// Throws for fields in a query over everything, which no index can serve.
    private static func checkFields(
        _ query: DocumentQuery,
        _ comparisons: Comparisons
    ) throws(StorageError) {
        guard case .everything = query.scope else { return }
        let filtered = comparisons.map(\.field)
        guard query.search == nil,
            (filtered + query.orders.map(\.field)).allSatisfy(\.isDocumentID)
        else {
            throw invalid(
                "a query over everything can only be filtered and ordered by the document’s id; "
                    + "query a collection or a collection group instead"
            )
        }
    }

    private static func check(
        _ comparison: DocumentFilter.Comparison,
        of field: FieldPath,
        with value: DocumentValue
    ) throws(StorageError) {
        if comparison.takesList {
            guard case .array(let values) = value else {
                throw invalid("\(comparison) on “\(field)” needs an array of values")
            }
            let most = comparison == .notIn ? mostExclusions : mostDisjunctions
            guard (1...most).contains(values.count) else {
                throw invalid("\(comparison) on “\(field)” takes 1 to \(most) values")
            }
            for value in values { try checkSize(of: value, comparedWith: field) }
        } else {
            try checkSize(of: value, comparedWith: field)
        }
    }

    private static func checkSize(
        of value: DocumentValue,
        comparedWith field: FieldPath
    ) throws(StorageError) {
        switch value {
        case .null, .boolean, .integer, .double, .timestamp, .geopoint: return
        case .string(let string) where string.utf8.count < longestConstant / 4: return
        default: break
        }
        guard DocumentBody.encoded(value).count > longestConstant else { return }
        // A 1,499-byte string has an encoding with a three-byte header.
        if !field.isDocumentID, IndexKey.key(value).count > longestConstant {
            throw invalid(
                "“\(field)” is compared with a value of more than \(longestConstant - 3) bytes; "
                    + "store a digest of it in a separate field and compare that"
            )
        }
    }

    private static func checkOrders(_ query: DocumentQuery) throws(StorageError) {
        var seen: Set<FieldPath> = []
        for order in query.orders {
            try check(order.field)
            guard seen.insert(order.field).inserted else {
                throw invalid("the query is ordered by “\(order.field)” twice")
            }
        }
        // Orders after the path have no effect, but the order of an inequality would.
        let orders = query.completeOrders
        let place = orders.firstIndex(where: \.field.isDocumentID)
        guard place == nil || place == orders.count - 1 else {
            throw invalid("no order can follow the document’s id, which is unique")
        }
        if case .last = query.limit, query.orders.isEmpty {
            throw invalid("limit(toLast:) needs at least one order(by:)")
        }
    }

    private static func resolved(
        _ bound: DocumentQuery.Bound?,
        of query: DocumentQuery,
        name: String
    ) throws(StorageError) -> DocumentQuery.Bound? {
        guard var bound else { return nil }
        let orders = query.completeOrders
        guard bound.values.count <= orders.count else {
            throw invalid(
                "the query’s \(name) has \(bound.values.count) values and the query has "
                    + "\(orders.count) orders; give one value for each of the first orders"
            )
        }
        for (position, order) in orders.prefix(bound.values.count).enumerated()
        where order.field.isDocumentID {
            let value = bound.values[position]
            bound.values[position] = try reference(for: value, in: query.scope)
        }
        return bound
    }

    private static func resolved(
        _ filter: DocumentFilter,
        in scope: DocumentQuery.Scope
    ) throws(StorageError) -> DocumentFilter {
        switch filter {
        case .and(let filters):
            guard !filters.isEmpty else { throw invalid("an and needs at least one condition") }
            return .and(try resolvedAll(filters, in: scope))
        case .or(let filters):
            guard !filters.isEmpty else { throw invalid("an or needs at least one condition") }
            return .or(try resolvedAll(filters, in: scope))
        case .field(let field, let comparison, let value):
            guard field.isDocumentID else { return filter }
            guard comparison != .arrayContains, comparison != .arrayContainsAny else {
                throw invalid("a document’s id is not an array")
            }
            guard comparison.takesList, case .array(let values) = value else {
                return .field(field, comparison, try reference(for: value, in: scope))
            }
            var references: [DocumentValue] = []
            for value in values { references.append(try reference(for: value, in: scope)) }
            return .field(field, comparison, .array(references))
        }
    }

    private static func resolvedAll(
        _ filters: [DocumentFilter],
        in scope: DocumentQuery.Scope
    ) throws(StorageError) -> [DocumentFilter] {
        var result: [DocumentFilter] = []
        for filter in filters { result.append(try resolved(filter, in: scope)) }
        return result
    }

    private static func reference(
        for value: DocumentValue,
        in scope: DocumentQuery.Scope
    ) throws(StorageError) -> DocumentValue {
        let path: DocumentPath
        switch (value, scope) {
        case (.reference(let given), _): path = given
        case (.string(let id), .collection(let collection)): path = DocumentPath(collection, id)
        case (.string(let string), .group), (.string(let string), .everything):
            path = DocumentPath(string)
        default:
            throw invalid(
                "a document’s id is compared with an id or a reference, not a \(value.kindName)"
            )
        }
        if let flaw = path.flaw { throw invalid(flaw) }
        return .reference(path)
    }

    private static func check(_ field: FieldPath) throws(StorageError) {
        if let flaw = field.flaw { throw invalid(flaw) }
    }

    private static func containsDisjunction(_ filter: DocumentFilter?) -> Bool {
        switch filter {
        case .or?: true
        case .and(let filters)?: filters.contains(where: containsDisjunction)
        default: false
        }
    }

    private static func memberships(of filter: DocumentFilter?) -> Int {
        switch filter {
        case .and(let filters)?: filters.map(memberships).reduce(0, +)
        case .or(let filters)?: filters.map(memberships).max() ?? 0
        case .field(_, .arrayContains, _)?, .field(_, .arrayContainsAny, _)?: 1
        default: 0
        }
    }

    private static func disjunctions(of filter: DocumentFilter?) -> Int {
        switch filter {
        case nil: 1
        case .and(let filters)?:
            filters.reduce(1) { min($0 * disjunctions(of: $1), mostDisjunctions + 1) }
        case .or(let filters)?:
            filters.reduce(0) { min($0 + disjunctions(of: $1), mostDisjunctions + 1) }
        case .field(_, .in, .array(let values))?,
            .field(_, .arrayContainsAny, .array(let values))?:
            values.count
        case .field?: 1
        }
    }

    private static func invalid(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }
}
