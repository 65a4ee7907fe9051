import KeelStorage

/// Values of every kind in the order of queries, written by hand.
///
/// The list is the reference for the checks of filters and orders and must not be computed by the code under test:
/// the position in the list is the rule (google/firestore/v1, "value type ordering"). Values on one rung are
/// equivalent.
enum Menagerie {
    /// A kind of value, within which `<` and similar operators compare.
    enum Kind: String, CaseIterable {
        case null, boolean, number, timestamp, string, bytes, reference, geopoint, array, vector,
            map
    }

    /// A value with its kind, its rung, and the id of the document that holds it.
    struct Animal: Sendable {
        let id: String
        let kind: Kind
        let rung: Int
        let value: DocumentValue
        var isNaN: Bool { if case .double(let number) = value { number.isNaN } else { false } }
    }

    /// All values; their ids are in list order, even among equivalent values.
    static let animals: [Animal] = {
        var animals: [Animal] = []
        for (rung, (kind, values)) in ladder.enumerated() {
            for value in values {
                let number = String(animals.count)
                let id = "v" + String(repeating: "0", count: 3 - number.count) + number
                animals.append(Animal(id: id, kind: kind, rung: rung, value: value))
            }
        }
        return animals
    }()

    /// The rungs in ascending order, each with its equivalent values.
    private static let ladder: [(Kind, [DocumentValue])] =
        plainRungs + textRungs + placeRungs + nestedRungs

    private static let plainRungs: [(Kind, [DocumentValue])] = [
        (.null, [.null]),
        (.boolean, [false]), (.boolean, [true]),
        (.number, [.double(.nan)]),
        (.number, [.double(-.infinity)]),
        (.number, [.double(-9_223_372_036_854_777_856)]),
        (.number, [.integer(.min), .double(-9_223_372_036_854_775_808)]),
        (.number, [-9_007_199_254_740_993]),
        (.number, [-9_007_199_254_740_992, -9_007_199_254_740_992.0]),
        (.number, [-1.5]), (.number, [-1, -1.0]),
        (.number, [.double(-.leastNonzeroMagnitude)]),
        (.number, [0, 0.0, .double(-0.0)]),
        (.number, [.double(.leastNonzeroMagnitude)]),
        (.number, [1, 1.0]), (.number, [1.5]), (.number, [2]), (.number, [10]),
        (.number, [9_007_199_254_740_992, 9_007_199_254_740_992.0]),
        (.number, [9_007_199_254_740_993]), (.number, [9_007_199_254_740_994]),
        (.number, [.integer(.max)]), (.number, [9_223_372_036_854_775_808.0]),
        (.number, [.double(.infinity)]),
        // The earliest time of Firestore, in the year 1.
        (.timestamp, [.timestamp(Timestamp(microseconds: -62_135_596_800_000_000))]),
        (.timestamp, [.timestamp(Timestamp(microseconds: -1))]),
        (.timestamp, [.timestamp(Timestamp(microseconds: 0))]),
        (.timestamp, [.timestamp(Timestamp(microseconds: 1))]),
        (.timestamp, [.timestamp(Timestamp(microseconds: 1_000_000))]),
    ]

    private static let textRungs: [(Kind, [DocumentValue])] = [
        (.string, [""]), (.string, ["\u{0}"]), (.string, ["\u{0}a"]), (.string, ["\u{1}"]),
        (.string, ["A"]), (.string, ["a"]), (.string, ["a\u{0}"]), (.string, ["a\u{0}b"]),
        (.string, ["a\u{1}"]), (.string, ["aa"]), (.string, ["b"]), (.string, ["e\u{301}"]),
        (.string, ["z"]), (.string, ["\u{e9}"]), (.string, ["\u{20ac}"]),
        // UTF-16 order would swap these two.
        (.string, ["\u{ff5e}"]), (.string, ["\u{1f600}"]),
        (.bytes, [.bytes([])]), (.bytes, [.bytes([0])]), (.bytes, [.bytes([0, 255])]),
        (.bytes, [.bytes([1])]), (.bytes, [.bytes([127])]), (.bytes, [.bytes([128])]),
        (.bytes, [.bytes([255])]), (.bytes, [.bytes([255, 0])]),
    ]

    private static let placeRungs: [(Kind, [DocumentValue])] = [
        (.reference, [.reference("a/b")]), (.reference, [.reference("a/b/c/d")]),
        (.reference, [.reference("a/b!/c/d")]), (.reference, [.reference("a/c")]),
        (.reference, [.reference("a!/a")]), (.reference, [.reference("b/a")]),
        (.geopoint, [.geopoint(GeoPoint(latitude: -90, longitude: 180))]),
        (.geopoint, [.geopoint(GeoPoint(latitude: -0.5, longitude: 0))]),
        (.geopoint, [.geopoint(GeoPoint(latitude: 0, longitude: -1))]),
        (
            .geopoint,
            [
                .geopoint(GeoPoint(latitude: 0, longitude: 0)),
                .geopoint(GeoPoint(latitude: -0.0, longitude: -0.0)),
            ]
        ),
        (.geopoint, [.geopoint(GeoPoint(latitude: 1, longitude: -5))]),
    ]

    private static let nestedRungs: [(Kind, [DocumentValue])] = [
        (.array, [[]]), (.array, [[.null]]), (.array, [[.double(.nan)]]), (.array, [[1], [1.0]]),
        (.array, [[1, .null]]), (.array, [[1, 2]]), (.array, [[2]]), (.array, [[2, "a"]]),
        (.array, [["a"]]), (.array, [["a", "b"]]), (.array, [["b"]]), (.array, [[["x": 1]]]),
        (.vector, [.vector([-.infinity])]), (.vector, [.vector([-1.5])]),
        (.vector, [.vector([0.0]), .vector([-0.0])]),
        (.vector, [.vector([.leastNonzeroMagnitude])]), (.vector, [.vector([100])]),
        (.vector, [.vector([.infinity])]), (.vector, [.vector([1, 2])]),
        (.vector, [.vector([1, 3])]), (.vector, [.vector([2, -1])]),
        (.vector, [.vector([-9, -9, -9])]),
        (.map, [[:]]), (.map, [["a": .null]]), (.map, [["a": 1], ["a": 1.0]]),
        (.map, [["a": 1, "aa": 0]]), (.map, [["a": 1, "b": 1]]), (.map, [["a": 2]]),
        (.map, [["a": ["b": 1]]]), (.map, [["aa": 0]]), (.map, [["b": 0]]),
    ]

    /// Returns a value of each kind that has other values below and above it.
    static func specimen(of kind: Kind) -> Animal {
        let ofKind = animals.filter { $0.kind == kind && !$0.isNaN }
        return ofKind[ofKind.count / 2]
    }
}
