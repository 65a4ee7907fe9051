import KeelDocuments
import KeelTestKit
import Testing

@Suite("Order of index keys")
struct IndexKeyTests {
    private typealias Keyed = (value: DocumentValue, key: [UInt8])

    private static let seed = SeededRandom.chosenSeed()

    private func keyed(_ values: [DocumentValue]) -> [Keyed] {
        values.map { ($0, IndexKey.key($0)) }
    }

    private func compare(_ one: [UInt8], _ other: [UInt8]) -> Int {
        one.lexicographicallyPrecedes(other) ? -1 : one == other ? 0 : 1
    }

    /// Compares all pairs, and returns their number and a description of the first pair whose order differs from that
    /// of its keys.
    private func disagreement(among all: [Keyed]) async -> (pairs: Int, words: String?) {
        var pairs = 0
        for (position, one) in all.enumerated() {
            // Other tests wait for the few threads of the pool.
            await Task.yield()
            for other in all[position...] {
                pairs += 1
                let expected = ReferenceOrder.compare(one.value, other.value)
                guard compare(one.key, other.key) != expected else { continue }
                return (pairs, "\(one.value) against \(other.value): expected \(expected)")
            }
        }
        return (pairs, nil)
    }

    @Test("Keys of a hundred thousand random pairs compare like their values")
    func ordersRandomPairs() async {
        print("IndexKeyTests: seed \(Self.seed)")
        var source = RandomValues(random: SeededRandom(seed: Self.seed))
        let values = (0..<460).map { _ in source.value() }
        let (pairs, words) = await disagreement(among: keyed(values))
        #expect(words == nil, "seed \(Self.seed)")
        #expect(pairs >= 100_000)
    }

    @Test("Keys of fifty thousand random number pairs compare exactly like the numbers")
    func ordersNumbers() async {
        var source = RandomValues(random: SeededRandom(seed: Self.seed &+ 1))
        var values: [DocumentValue] = []
        while values.count < 320 {
            let value = source.value(depth: 0)
            if value.isNumber { values.append(value) }
        }
        let (pairs, words) = await disagreement(among: keyed(values))
        #expect(words == nil, "seed \(Self.seed)")
        #expect(pairs >= 50_000)
    }

    @Test("Descending keys have the reverse order, and no key is a prefix of another")
    func descends() async {
        var source = RandomValues(random: SeededRandom(seed: Self.seed &+ 2))
        let values = (0..<250).map { _ in source.value() }
        let keys = values.map { value in
            var descending: [UInt8] = []
            IndexKey.append(value, .descending, to: &descending)
            return (up: IndexKey.key(value), down: descending)
        }
        for one in keys {
            await Task.yield()
            for other in keys where one.up != other.up {
                if compare(one.up, other.up) != -compare(one.down, other.down)
                    || other.up.starts(with: one.up)
                {
                    Issue.record("seed \(Self.seed): \(one.up) against \(other.up)")
                    return
                }
            }
        }
    }

    @Test("Composite keys compare by the first value, then by the second")
    func joins() async {
        var source = RandomValues(random: SeededRandom(seed: Self.seed &+ 3))
        for _ in 0..<3_000 {
            await Task.yield()
            let (one, other) = (
                [source.value(), source.value()], [source.value(), source.value()]
            )
            let byFirst = ReferenceOrder.compare(one[0], other[0])
            let expected = byFirst == 0 ? ReferenceOrder.compare(one[1], other[1]) : byFirst
            let result = compare(one.flatMap(IndexKey.key), other.flatMap(IndexKey.key))
            #expect(result == expected, "seed \(Self.seed): \(one) against \(other)")
        }
    }

    @Test("A path has the same key as a reference and as a position, in path order")
    func keysPaths() {
        var source = RandomValues(random: SeededRandom(seed: Self.seed &+ 4))
        var paths: [DocumentPath] = []
        while paths.count < 120 {
            if case .reference(let path) = source.value(depth: 0) { paths.append(path) }
        }
        let keys = paths.map { path in
            var key: [UInt8] = []
            IndexKey.append(path: path, to: &key)
            #expect(key == IndexKey.key(.reference(path)))
            return (path: path, key: key)
        }
        for one in keys {
            for other in keys {
                #expect(one.key.lexicographicallyPrecedes(other.key) == (one.path < other.path))
                let begins = other.key.starts(with: one.key)
                #expect(begins == (one.path == other.path), "\(one.path) begins \(other.path)")
            }
        }
    }

    @Test("Groups of equal values have Firestore’s order")
    func ordersGroups() {
        for (position, group) in Self.groups.enumerated() {
            for one in group {
                for other in group { #expect(one.isEquivalent(to: other), "\(one), \(other)") }
                for later in Self.groups.dropFirst(position + 1).joined() {
                    #expect(one.precedes(later), "\(one), \(later)")
                    #expect(!later.precedes(one), "\(one), \(later)")
                }
            }
        }
    }

    /// Equality groups in ascending order, from the test tables of Firestore's clients (firebase-ios-sdk
    /// value_util_test.cc, google-cloud-firestore test_order.py).
    private static let groups: [[DocumentValue]] = [
        [.null], [false], [true],
        [.double(.nan), .double(-.nan)], [.double(-.infinity)],
        [.double(-.greatestFiniteMagnitude)],
        [.integer(.min), .double(-0x1p63)], [-9_007_199_254_740_993], [-9_007_199_254_740_992],
        [-20], [-10, -10.0], [-0.5], [.double(-.leastNonzeroMagnitude)], [0, 0.0, .double(-0.0)],
        [.double(.leastNonzeroMagnitude)], [0.5], [1, 1.0], [1.1], [10, 10.0], [20],
        [9_007_199_254_740_992, .double(0x1p53)], [9_007_199_254_740_993],
        [.integer(.max)], [.double(0x1p63)], [.double(.greatestFiniteMagnitude)],
        [.double(.infinity)],
        [.timestamp(Timestamp(microseconds: .min))], [.timestamp(Timestamp(microseconds: -1))],
        [.timestamp(Timestamp(microseconds: 1_463_739_600_000_000))],
        [.timestamp(Timestamp(microseconds: 1_463_739_600_000_001))],
        [.timestamp(Timestamp(microseconds: 1_463_739_601_000_000))],
        [.timestamp(Timestamp(microseconds: .max))],
        [""], ["\u{0}\u{ff}\u{1}"], ["a"], ["a\u{0}"], ["abc"], ["abc def"], ["e\u{301}b"],
        ["\u{e6}"],
        ["\u{e9}a"], ["\u{ff5e}"], ["\u{1f600}"],
        [.bytes([])], [.bytes([0])], [.bytes([0, 1, 2, 3, 4])], [.bytes([0, 1, 2, 4, 3])],
        [.bytes([255])],
        [.reference("c1/doc1")], [.reference("c1/doc1/c2/doc1")], [.reference("c1/doc2")],
        [.reference("c10/doc1")], [.reference("c2/doc1")],
        [.geopoint(GeoPoint(latitude: -90, longitude: -180))],
        [.geopoint(GeoPoint(latitude: -90, longitude: 0))],
        [.geopoint(GeoPoint(latitude: -90, longitude: 180))],
        [.geopoint(GeoPoint(latitude: 0, longitude: -180))],
        [
            .geopoint(GeoPoint(latitude: 0, longitude: 0)),
            .geopoint(GeoPoint(latitude: -0.0, longitude: -0.0)),
        ],
        [.geopoint(GeoPoint(latitude: 1, longitude: 0))],
        [.geopoint(GeoPoint(latitude: 90, longitude: 180))],
        [[]], [[.null]], [["bar"]], [["foo", 0]], [["foo", 1], ["foo", 1.0]], [["foo", "0"]],
        [[[:]]],
        [.vector([])], [.vector([.nan]), .vector([-.nan])], [.vector([-.infinity])],
        [.vector([-100])], [.vector([0]), .vector([-0.0])], [.vector([100])],
        [.vector([.infinity])],
        [.vector([1, 2])], [.vector([1, 2.5])], [.vector([2, 1])], [.vector([-1, -1, -1])],
        [[:]], [["bar": 0]], [["bar": 0, "foo": 1]], [["bar": 1]], [["bar": 2], ["bar": 2.0]],
        [["bar": 2, "foo": 1]], [["bar": "0"]], [["foo": 0]],
    ]
}
