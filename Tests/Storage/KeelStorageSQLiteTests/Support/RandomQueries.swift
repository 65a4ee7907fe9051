import KeelStorage
import KeelTestKit

/// Makes documents and queries from few fields and values, so that they often match.
struct RandomQueries {
    var random: SeededRandom
    private let fields: [FieldPath] = ["a", "b", "c.d", "tags"]
    /// Whether many values and ids are longer than the part that an index holds.
    let areLong: Bool

    init(seed: UInt64, areLong: Bool = false) {
        random = SeededRandom(seed: seed)
        self.areLong = areLong
    }

    /// Values that are equal up to where an index cuts them, or end exactly there.
    private static let longValues: [DocumentValue] = {
        let text = String(repeating: "x", count: 1_490)
        let texts = (6...14).map { DocumentValue.string(text + String(repeating: "x", count: $0)) }
        let bytes = [UInt8](repeating: 7, count: 1_600)
        // Zeros are escaped, so their key is twice as long.
        let zeros = [UInt8](repeating: 0, count: 760)
        let path = "a/\(text)/b/\(text)"
        return texts + ["a", "b", "bb"].map { .string(text + "xxxxxxxxxxxx" + $0) } + [
            .bytes(bytes), .bytes(bytes + [1]), .bytes(bytes + [2]), .bytes(zeros),
            .bytes(zeros + [1]), .bytes(zeros + [2]), .reference(DocumentPath("\(path)1")),
            .reference(DocumentPath("\(path)2")), .map(["k": texts[8], "l": 1]),
            .map(["k": texts[8], "l": 2]), .array([texts[8], 1]), .array([texts[8], 2]),
            .array([texts[7], texts[8], "a"]), .array([texts[7], texts[8], "b"]),
        ]
    }()

    mutating func value() -> DocumentValue {
        if areLong, Int.random(in: 0..<5, using: &random) < 3 {
            return Self.longValues.randomElement(using: &random) ?? .null
        }
        return shortValue()
    }

    private mutating func shortValue() -> DocumentValue {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .null
        case 1: .boolean(Bool.random(using: &random))
        case 2: .double(Double(Int.random(in: -2...2, using: &random)))
        case 3:
            .double(
                [.nan, 0.5, -0.0, .infinity, 9_007_199_254_740_992].randomElement(using: &random)
                    ?? 0
            )
        case 4:
            .integer([Int64.max, .min, 9_007_199_254_740_993].randomElement(using: &random) ?? 0)
        case 5: .timestamp(Timestamp(microseconds: Int64.random(in: -2...2, using: &random)))
        case 6:
            .string(
                ["", "a", "a\0", "ab", "\u{E9}", "e\u{301}", "😀"].randomElement(using: &random)
                    ?? ""
            )
        case 7: .bytes([[], [0], [0, 255], [255]].randomElement(using: &random) ?? [])
        case 8: .reference(["a/1", "a/1/b/2", "a!/1"].randomElement(using: &random) ?? "a/1")
        case 9:
            Bool.random(using: &random)
                ? .map(["k": .integer(Int64.random(in: 0...1, using: &random))])
                : .vector([Double.random(in: 0...1, using: &random).rounded(), 0.5])
        default: .integer(Int64.random(in: -3...3, using: &random))
        }
    }

    mutating func document() -> DocumentFields {
        var fields = DocumentFields()
        for name in ["a", "b"] where Int.random(in: 0..<8, using: &random) > 0 {
            fields[name] = value()
        }
        if Bool.random(using: &random) { fields["c"] = .map(["d": value()]) }
        if Bool.random(using: &random) {
            let count = Int.random(in: 0...4, using: &random)
            let elements = (0..<count).map { _ in value() }
            // An array or a vector in an array cannot be stored.
            fields["tags"] = .array(
                elements.filter { $0.arrayValue == nil && $0.vectorValue == nil }
            )
        }
        return fields
    }

    mutating func path() -> DocumentPath {
        var id = ["1", "2", "10", "a", "a!", "é", "z"].randomElement(using: &random) ?? "1"
        if areLong, Bool.random(using: &random) { id = String(repeating: "p", count: 1_480) + id }
        let collection: CollectionPath =
            [
                ("items" as CollectionPath), "shops/x/items", "shops/y/items", "shops/x!/items",
                "other", "items/11/items", "shops/x/items/a1/items",
            ]
            .randomElement(using: &random) ?? "items"
        return collection.document(id + String(Int.random(in: 0..<6, using: &random)))
    }

    mutating func schema() -> StorageSchema {
        let indexes = (0..<14).map { _ in
            let count = Int.random(in: 1...3, using: &random)
            var hasArray = false
            let components = fields.shuffled(using: &random).prefix(count).map { field in
                let kind = Int.random(in: 0..<5, using: &random)
                if kind == 0 || field == "tags", !hasArray {
                    hasArray = true
                    return IndexDefinition.Component.contains(field)
                }
                return kind < 3 ? .ascending(field) : .descending(field)
            }
            return IndexDefinition(
                "items",
                scope: Bool.random(using: &random) ? .group : .collection,
                components,
                isEqualityOnly: Int.random(in: 0..<6, using: &random) == 0
            )
        }
        // In order, so that a seed always gives the same run.
        let distinct = indexes.enumerated().filter {
            indexes.firstIndex(of: $0.element) == $0.offset
        }
        return StorageSchema(indexes: distinct.map(\.element))
    }

    private mutating func filter(depth: Int = 0) -> DocumentFilter {
        let kind = Int.random(in: 0..<10, using: &random)
        if depth < 2, kind < 2 {
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                filter(depth: depth + 1)
            }
            return kind == 0 ? .or(parts) : .and(parts)
        }
        if Int.random(in: 0..<6, using: &random) == 0 { return pathFilter() }
        let field = fields.randomElement(using: &random) ?? "a"
        let all = DocumentFilter.Comparison.allCases + [.equal, .equal, .greater, .lessOrEqual]
        let comparison = all.randomElement(using: &random) ?? .equal
        switch comparison {
        case .in, .notIn, .arrayContainsAny:
            let count = Int.random(in: 1...3, using: &random)
            return .field(field, comparison, .array((0..<count).map { _ in value() }))
        default: return .field(field, comparison, value())
        }
    }

    /// Returns a condition on the document's path.
    private mutating func pathFilter() -> DocumentFilter {
        let all: [DocumentFilter.Comparison] = [
            .equal, .equal, .in, .in, .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual,
            .notIn,
        ]
        let comparison = all.randomElement(using: &random) ?? .equal
        guard comparison == .in || comparison == .notIn else {
            return .field(.documentID, comparison, .reference(path()))
        }
        let count = Int.random(in: 1...8, using: &random)
        return .field(.documentID, comparison, .array((0..<count).map { _ in .reference(path()) }))
    }

    mutating func query() -> DocumentQuery {
        var query: DocumentQuery
        switch Int.random(in: 0..<5, using: &random) {
        case 0: query = DocumentQuery(group: "items")
        case 1: query = DocumentQuery(group: "items", under: "shops/x")
        case 2: query = DocumentQuery("shops/x/items")
        default: query = DocumentQuery("items")
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) { query = query.where(filter()) }
        for field in fields.prefix(3).shuffled(using: &random).prefix(
            Int.random(in: 0...2, using: &random)
        ) {
            query = query.order(by: field, Bool.random(using: &random) ? .ascending : .descending)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            query = query.order(
                by: .documentID,
                Bool.random(using: &random) ? .ascending : .descending
            )
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: query = query.limit(to: Int.random(in: 0...6, using: &random))
        case 1 where !query.orders.isEmpty:
            query = query.limit(toLast: Int.random(in: 1...6, using: &random))
        default: break
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            query.offset = Int.random(in: 0...3, using: &random)
        }
        if Int.random(in: 0..<3, using: &random) == 0, !query.orders.isEmpty {
            let count = Int.random(in: 1...query.orders.count, using: &random)
            let bound = DocumentQuery.Bound(
                query.orders.prefix(count).map {
                    $0.field == .documentID ? .reference(path()) : value()
                },
                isInclusive: Bool.random(using: &random)
            )
            if Bool.random(using: &random) { query.start = bound } else { query.end = bound }
        }
        return query
    }
}
