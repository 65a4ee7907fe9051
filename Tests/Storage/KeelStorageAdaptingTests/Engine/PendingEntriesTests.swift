import KeelStorageAdapting
import KeelTestKit
import Testing

@Suite("Pending index entries")
struct PendingEntriesTests {
    private struct Entry: Hashable {
        let index: Int64
        let collection: Int64
        let key: [UInt8]
        let row: Int64
    }

    private static let seed = SeededRandom.chosenSeed()

    @Test("Entries are ordered by index, collection and key, then by insertion")
    func order() {
        let entries = PendingEntries()
        entries.add([2], of: 1, to: 2, in: 1, isRemoval: false)
        entries.add([1, 0], of: 1, to: 1, in: 1, isRemoval: false)
        entries.add([1], of: 7, to: 1, in: 1, isRemoval: true)
        entries.add([1], of: 7, to: 1, in: 1, isRemoval: false)
        entries.add([0xFF], of: 1, to: 1, in: 0, isRemoval: false)
        var found: [String] = []
        entries.write { found.append("\($0.index) \($0.collection) \($0.key) \($0.isRemoval)") }
        #expect(
            found == [
                "1 0 [255] false", "1 1 [1] true", "1 1 [1] false", "1 1 [1, 0] false",
                "2 1 [2] false",
            ]
        )
        entries.write { _ in found.append("again") }
        #expect(found.count == 5, "what was written does not wait any more")
    }

    @Test("Random additions and removals result in the expected entries")
    func agrees() {
        print("PendingEntriesTests: seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        for _ in 0..<50 {
            let entries = PendingEntries()
            var expected: Set<Entry> = []
            var found: Set<Entry> = []
            for _ in 0..<200 {
                let entry = Entry(
                    index: .random(in: 1...3, using: &random),
                    collection: .random(in: 0...2, using: &random),
                    key: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        .random(in: 0...1, using: &random)
                    },
                    row: .random(in: 1...3, using: &random)
                )
                let isRemoval = Bool.random(using: &random)
                if isRemoval { expected.remove(entry) } else { expected.insert(entry) }
                entries.add(
                    entry.key,
                    of: entry.row,
                    to: entry.index,
                    in: entry.collection,
                    isRemoval: isRemoval
                )
            }
            var last: (Int64, Int64, [UInt8])?
            entries.write { change in
                if let last {
                    let isInOrder =
                        last.0 != change.index
                        ? last.0 < change.index
                        : last.1 != change.collection
                            ? last.1 < change.collection
                            : !change.key.lexicographicallyPrecedes(last.2)
                    #expect(isInOrder, "seed \(Self.seed)")
                }
                last = (change.index, change.collection, change.key)
                let entry = Entry(
                    index: change.index,
                    collection: change.collection,
                    key: change.key,
                    row: change.row
                )
                if change.isRemoval { found.remove(entry) } else { found.insert(entry) }
            }
            #expect(found == expected, "seed \(Self.seed)")
        }
    }
}
