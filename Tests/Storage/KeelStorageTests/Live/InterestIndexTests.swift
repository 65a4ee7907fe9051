import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Interest index")
struct InterestIndexTests {
    private static let paths: [DocumentPath] = [
        "a/1", "a/2", "b/1", "a/1/g/1", "b/1/g/1", "a/1/g/1/a/1", "é/1", "e\u{301}/1",
    ]

    private static let scopes: [ChangeScope] = [
        .everything, ChangeScope(), .documents(["a/1", "b/1/g/1"]), .collections(["a", "b"]),
        .groups(["g"]), .groups(["a", "\u{e9}"]), .groups(["e\u{301}"]),
        .query(DocumentQuery("a").where(.equal("n", 1))),
        .query(DocumentQuery(group: "g").where(.less("n", 1))),
        ChangeScope.documents(["a/1"]).union(.collections(["a"])).union(.groups(["a"])),
    ]

    @Test("The index returns each listener affected by a change once", arguments: [UInt64](0..<20))
    func finds(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = InterestIndex<Int>()
        var present: [Int: ScopeFilter] = [:]
        for key in 0..<40 {
            if let old = present.keys.sorted().randomElement(using: &random),
                Bool.random(using: &random), let filter = present.removeValue(forKey: old)
            {
                index.remove(old, for: filter.scope)
            }
            if let scope = Self.scopes.randomElement(using: &random) {
                index.insert(key, for: scope)
                present[key] = ScopeFilter(scope)
            }
            for path in Self.paths {
                let expected = present.filter { $0.value.contains(path) }.keys
                #expect(index.keys(for: path) == Set(expected), "seed \(seed), \(path)")
            }
        }
        for (key, filter) in present { index.remove(key, for: filter.scope) }
        for path in Self.paths { #expect(index.keys(for: path).isEmpty) }
    }

    @Test("Canonically equivalent names are different")
    func bytes() {
        var index = InterestIndex<Int>()
        index.insert(1, for: .groups(["é"]))
        index.insert(2, for: .collections(["e\u{301}"]))
        #expect(index.keys(for: "é/1") == [1])
        #expect(index.keys(for: "e\u{301}/1") == [2])
    }

    @Test("Groups with canonically equivalent names are different interests")
    func groups() {
        let (one, other) = (ChangeScope.groups(["\u{e9}"]), ChangeScope.groups(["e\u{301}"]))
        #expect(one != other && !one.includes(other))
        let bytes: [[UInt8]] = one.union(other).groups.map { Array($0.utf8) }
        #expect(bytes == [[0x65, 0xcc, 0x81], [0xc3, 0xa9]])
        #expect(ScopeFilter(one).contains("\u{e9}/1") && !ScopeFilter(one).contains("e\u{301}/1"))
        #expect(DocumentQuery(group: "\u{e9}") != DocumentQuery(group: "e\u{301}"))
    }
}
