import KeelStorage
internal import KeelStorageAdapting

extension FuzzSource {
    /// Returns a valid query, or nil if the drawn query is invalid.
    mutating func query() -> DocumentQuery? {
        if random.hits(1, in: 10) { return treeQuery() }
        var query =
            random.hits(1, in: 4)
            ? DocumentQuery(
                group: name,
                under: random.hits(1, in: 3) ? CollectionPath(name).document("a") : nil
            )
            : DocumentQuery(random.pick(collections))
        for _ in 0..<random.pick([0, 1, 1, 1, 2, 3]) { query = query.where(filter(depth: 2)) }
        for _ in 0..<random.pick([0, 0, 1, 1, 2]) {
            query = query.order(by: orderField(), direction())
        }
        if random.hits(1, in: 4) { query.start = bound(of: query) }
        if random.hits(1, in: 4) { query.end = bound(of: query) }
        if random.hits(1, in: 3) {
            let count = random.number(0...6)
            query.limit = random.hits(1, in: 3) ? .last(count) : .first(count)
        }
        if random.hits(1, in: 6) { query.offset = random.number(0...4) }
        if random.hits(1, in: 8) {
            query.projection = (0..<random.number(0...3)).map { _ in field() }
        }
        return omits(query) ? nil : try? QueryValidation.checked(query)
    }

    private mutating func treeQuery() -> DocumentQuery? {
        var query = DocumentQuery.everything(under: path())
        if random.hits(1, in: 4) { query = query.where(idFilter()) }
        if random.hits(1, in: 2) { query = query.order(by: .documentID, direction()) }
        if random.hits(1, in: 3) { query.start = bound(of: query) }
        if random.hits(1, in: 3) { query.end = bound(of: query) }
        if random.hits(1, in: 3) { query.limit = .first(random.number(0...6)) }
        if random.hits(1, in: 6) { query.offset = random.number(0...4) }
        return omits(query) ? nil : try? QueryValidation.checked(query)
    }

    /// Returns a search in the fields that a run declares.
    mutating func search() -> DocumentQuery? {
        let text = random.pick([
            "fox", "fo*", "red fox", "blue", "grun", "renard r*", "foxes", "none",
        ])
        var query = DocumentQuery(random.pick(collections)).matching(text)
        if random.hits(1, in: 3) { query = query.where(filter(depth: 1)) }
        if random.hits(1, in: 3) { query = query.order(by: orderField(), direction()).limit(to: 4) }
        return try? QueryValidation.checked(query)
    }

    mutating func aggregations() -> [Aggregation] {
        (0..<random.number(1...4)).map { _ in
            switch random.number(0...3) {
            case 0: .count()
            case 1: .count(upTo: random.number(1...5))
            case 2: .sum(field())
            default: .average(field())
            }
        }
    }

    private mutating func direction() -> DocumentQuery.Direction {
        random.hits(1, in: 3) ? .descending : .ascending
    }

    private mutating func orderField() -> FieldPath {
        random.hits(1, in: 8) ? .documentID : field()
    }

    private mutating func filter(depth: Int) -> DocumentFilter {
        if depth > 0, random.hits(1, in: 6) {
            return .or((0..<random.number(1...3)).map { _ in filter(depth: depth - 1) })
        }
        if depth > 0, random.hits(1, in: 8) {
            return .and((0..<random.number(1...3)).map { _ in filter(depth: depth - 1) })
        }
        if random.hits(1, in: 12) { return idFilter() }
        let comparison = random.pick(DocumentFilter.Comparison.allCases)
        let list = DocumentValue.array((0..<random.number(1...4)).map { _ in value() })
        switch comparison {
        case .in, .notIn: return .field(field(), comparison, list)
        case .arrayContainsAny: return .field("l", comparison, list)
        case .arrayContains:
            return .field(random.hits(3, in: 4) ? "l" : field(), comparison, element())
        default: return .field(field(), comparison, value())
        }
    }

    private mutating func idFilter() -> DocumentFilter {
        let comparison = random.pick([
            DocumentFilter.Comparison.equal, .notEqual, .less, .greaterOrEqual, .in, .notIn,
        ])
        guard comparison.takesList else {
            return .field(.documentID, comparison, .reference(path()))
        }
        return .field(
            .documentID,
            comparison,
            [.reference(path()), .reference(path())]
        )
    }

    private mutating func bound(of query: DocumentQuery) -> DocumentQuery.Bound? {
        let orders = query.completeOrders
        let values = orders.prefix(random.number(1...orders.count)).map { order in
            order.field.isDocumentID ? DocumentValue.reference(path()) : value()
        }
        return DocumentQuery.Bound(values, isInclusive: random.hits(1, in: 2))
    }
}
