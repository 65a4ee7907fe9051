internal import KeelStorage
internal import KeelTestKit

/// A source of values, documents and paths from small pools, which make collisions frequent.
struct FuzzSource {
    var random: SeededRandom
    /// The name of the collections and the group of a run.
    let name: String
    let omissions: Set<DifferentialFuzz.Omission>

    init(seed: UInt64, name: String, omitting omissions: Set<DifferentialFuzz.Omission> = []) {
        random = SeededRandom(seed: seed)
        self.name = name
        self.omissions = omissions
    }

    // MARK: Paths

    var collections: [CollectionPath] {
        [
            CollectionPath(name), CollectionPath(name).document("a").collection(name),
            CollectionPath(name + "x").document("\u{e9}").collection(name),
        ]
    }

    static let ids = [
        "a", "b", "c", "aa", "a!", "A", "\u{e9}", "e\u{301}", "z\u{0}", "1", "10", "2", "\u{1f600}",
    ]

    mutating func path() -> DocumentPath {
        random.pick(collections).document(random.pick(Self.ids))
    }

    static let fields: [FieldPath] = [
        "a", "a", "b", "b", "c", "l", "m.x", "m.y", "m", "text", FieldPath(names: ["\u{e9}"]),
        "a.b",
    ]

    mutating func field() -> FieldPath { random.pick(Self.fields) }

    // MARK: Values

    static let plain: [DocumentValue] = [
        .null, true, false, 0, 1, 2, 3, -1, 0.0, .double(-0.0), 1.0, 1.5, -2.5, .double(.nan),
        .double(.infinity), .double(-.infinity), .integer(.max), .integer(.min),
        9_007_199_254_740_992, 9_007_199_254_740_993, 9_007_199_254_740_992.0,
        .timestamp(Timestamp(microseconds: 0)), .timestamp(Timestamp(microseconds: -1)),
        .timestamp(Timestamp(microseconds: 5_000_000)),
        "", "a", "b", "aa", "a\u{0}", "\u{e9}", "e\u{301}", "\u{ff5e}", "\u{1f600}",
        .bytes([]), .bytes([0]), .bytes([0, 255]), .bytes([255]),
        .reference("a/b"), .reference("a/b/c/d"), .reference("a!/b"),
        .geopoint(GeoPoint(latitude: 0, longitude: 0)),
        .geopoint(GeoPoint(latitude: -1.5, longitude: 180)),
        .vector([0]), .vector([-0.0]), .vector([.infinity]), .vector([1, 2]), .vector([1, 2.5]),
    ]

    /// Values that are equal, or just different, in the part that an index holds.
    static let long: [DocumentValue] = {
        let text = String(repeating: "x", count: 1_499)
        let bytes = [UInt8](repeating: 7, count: 1_600)
        return [
            .string(text), .string(text + "a"), .string(text + "b"), .string(text + "bb"),
            .bytes(bytes), .bytes(bytes + [1]), .map(["k": .string(text + "a")]),
            .map(["k": .string(text + "b")]), .array([.string(text + "a"), 1]),
            .array([.string(text + "a"), 2]),
            .vector(VectorValue(Array(repeating: 0.5, count: 200))),
            .vector(VectorValue(Array(repeating: 0.5, count: 199) + [1])),
        ]
    }()

    static let small: [DocumentValue] = [0, 1, 2, 3, 1.0, 2.5, "a", "b", .null, true]

    static let texts = [
        "red fox", "Red, blue!", "gr\u{fc}n fox", "blue", "foxes", "un renard rouge",
    ]

    mutating func value(depth: Int = 2) -> DocumentValue { kept(anyValue(depth: depth)) }

    /// Returns a value, or a similar one in place of one that the run leaves out.
    private func kept(_ value: DocumentValue) -> DocumentValue {
        guard omits(.negativeZeros) else { return value }
        switch value {
        case .double(0): return 0.0
        case .vector(let vector) where vector.elements.contains(0): return .vector([0])
        default: return value
        }
    }

    private mutating func anyValue(depth: Int) -> DocumentValue {
        switch random.number(0...11) {
        case 0...4: random.pick(Self.small)
        case 5...6: random.pick(Self.plain)
        case 7: random.pick(random.hits(1, in: 2) ? Self.plain : Self.long)
        case 8 where depth > 0: list(depth: depth)
        case 9 where depth > 0: .map(fields(depth: depth - 1))
        default: .integer(Int64(random.number(0...9)))
        }
    }

    mutating func list(depth: Int = 1) -> DocumentValue {
        .array((0..<random.number(0...3)).map { _ in element(depth: depth - 1) })
    }

    mutating func element(depth: Int = 0) -> DocumentValue {
        let value = value(depth: depth)
        switch value {
        case .array, .vector: return .integer(1)
        default: return value
        }
    }

    mutating func number() -> DocumentValue {
        let numbers = Self.plain.filter(\.isNumber)
        let isSmall = random.hits(3, in: 4)
        return isSmall ? .integer(Int64(random.number(-3...3))) : kept(random.pick(numbers))
    }

    mutating func fields(depth: Int = 2) -> DocumentFields {
        var fields = DocumentFields()
        for _ in 0..<random.number(0...5) {
            switch random.number(0...9) {
            case 0...6: fields[random.pick(["a", "b", "c", "\u{e9}"])] = value(depth: depth)
            case 7: fields["l"] = list(depth: 1)
            case 8: fields["text"] = .string(random.pick(Self.texts))
            default: fields[random.pick(["x", "y", "m"])] = value(depth: depth)
            }
        }
        return fields
    }

    // MARK: Indexes

    mutating func index() -> IndexDefinition {
        var components: [IndexDefinition.Component] = []
        for _ in 0..<random.number(1...3) {
            let field = field()
            guard !components.contains(where: { $0.field == field }) else { continue }
            components.append(random.hits(2, in: 3) ? .ascending(field) : .descending(field))
        }
        if random.hits(1, in: 4) { components.insert(.contains("l"), at: 0) }
        return IndexDefinition(
            name,
            scope: random.hits(1, in: 3) ? .group : .collection,
            components
        )
    }
}

extension SeededRandom {
    /// Returns true `count` times in `total`.
    mutating func hits(_ count: Int, in total: Int) -> Bool {
        Int.random(in: 0..<total, using: &self) < count
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }
}
