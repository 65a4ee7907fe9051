import KeelStorageAdapting
import Testing

/// With work for each pair of fields, or of a transform and an element, the first tests would reach the time limit.
@Suite("Updates of many fields", .timeLimit(.minutes(5)))
struct ManyChangesTests {
    private static let commit = StorageEvaluator.Commit(
        time: Timestamp(microseconds: 2),
        revision: 2
    )

    @Test("Many fields can be set and removed in one update")
    func many() {
        let names = (0..<600_000).map { "\(1_000_000 + $0)" }
        var (before, after): ([(String, DocumentValue)], [(String, DocumentValue)]) = ([], [])
        var changes: [FieldChange] = []
        for (index, name) in names.enumerated() {
            let field = FieldPath(names: [name])
            if index % 2 == 0 { before.append((name, 0)) }
            switch index % 4 {
            case 0: after.append((name, 0))
            case 2: changes.append(FieldChange(field, .remove))
            default:
                changes.append(FieldChange(field, .set(1)))
                after.append((name, 1))
            }
        }
        var fields = DocumentFields(before)
        _ = StorageEvaluator.apply(changes, to: &fields, at: Self.commit)
        #expect(fields == DocumentFields(after))
    }

    @Test("A large array can be transformed many times in one update")
    func manyTransforms() {
        let stored = (Int64(0)..<100_000).map { DocumentValue.integer($0) }
        var fields: DocumentFields = ["list": .array(stored)]
        var changes: [FieldChange] = []
        for number in Int64(0)..<10_000 {
            changes.append(FieldChange("list", .transform(.arrayUnion([.integer(-1 - number)]))))
            changes.append(FieldChange("list", .transform(.arrayRemove([.integer(number)]))))
        }
        let results = StorageEvaluator.apply(changes, to: &fields, at: Self.commit)
        #expect(results.count == changes.count)
        let kept = stored.dropFirst(10_000)
        let added = (Int64(1)...10_000).map { DocumentValue.integer(-$0) }
        #expect(fields["list"] == .array(Array(kept) + added))
    }

    @Test("Transforms of one array build on each other")
    func transforms() {
        let start: DocumentFields = ["list": [1, 2, .double(1), 2], "n": 5]
        let changes: [FieldChange] = [
            FieldChange("list", .transform(.arrayUnion([2, 3]))),
            FieldChange("map.list", .transform(.arrayRemove([1]))),
            FieldChange("list", .transform(.arrayRemove([1]))),
            FieldChange("n", .transform(.arrayUnion(["a"]))),
            FieldChange("list", .transform(.arrayUnion([1, .double(3)]))),
            FieldChange("n", .transform(.increment(2))),
            FieldChange("map.n", .transform(.increment(4))),
            FieldChange("list", .transform(.arrayRemove([3, 7]))),
            FieldChange("text", .transform(.arrayUnion(["a"]))),
            FieldChange("text", .transform(.maximum(6))),
            FieldChange("text", .transform(.arrayUnion(["b"]))),
        ]
        var together = start
        let results = StorageEvaluator.apply(changes, to: &together, at: Self.commit)
        #expect(
            results == [.null, .null, .null, .null, .null, 2, 4, .null, .null, 6, .null]
        )
        #expect(together["list"] == [2, 2, 1])
        #expect(together["map"] == ["list": [], "n": 4])
        #expect(together["n"] == 2)
        #expect(together["text"] == ["b"])
        var alone = start
        for change in changes {
            _ = StorageEvaluator.apply([change], to: &alone, at: Self.commit)
        }
        #expect(together == alone)
    }

    @Test("An update of many fields has the effect of one for each of them")
    func oneByOne() {
        let start: DocumentFields = [
            "map": ["kept": 1, "set": 1, "gone": 1], "text": "a", "replaced": "b", "gone": 1,
            "n": 1,
        ]
        var changes: [FieldChange] = []
        for number in 0..<150 {
            changes.append(FieldChange(FieldPath(names: ["f\(number)"]), .set(1)))
        }
        changes += [
            FieldChange("gone", .remove), FieldChange("map.set", .set(2)),
            FieldChange("map.gone", .remove), FieldChange("map.inner.new", .set(3)),
            FieldChange("map.inner.missing", .remove), FieldChange("missing.gone", .remove),
            FieldChange("text.gone", .remove), FieldChange("replaced.gone", .remove),
            FieldChange("replaced.new", .set(4)), FieldChange("n", .transform(.increment(1))),
            FieldChange("n", .transform(.increment(2))),
            FieldChange("f1", .transform(.increment(1))),
        ]
        var together = start
        let results = StorageEvaluator.apply(changes, to: &together, at: Self.commit)
        #expect(results == [2, 4, 2])
        var alone = start
        for change in changes {
            _ = StorageEvaluator.apply([change], to: &alone, at: Self.commit)
        }
        #expect(together == alone)
        #expect(together["map"] == ["kept": 1, "set": 2, "inner": ["new": 3]])
        #expect(together["text"] == "a")
        #expect(together["replaced"] == ["new": 4])
    }
}
