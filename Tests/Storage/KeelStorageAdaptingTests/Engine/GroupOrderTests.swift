import KeelStorageAdapting
import KeelTestKit
import Testing

/// Tests of the group order over an in-memory directory.
@Suite("Path order of groups")
struct GroupOrderTests {
    /// An in-memory directory of collections, with or without keys.
    private struct Directory: CollectionDirectory {
        let paths: [CollectionPath]
        var hasKeys = true

        func number(of collection: CollectionPath) -> Int64? {
            paths.firstIndex(of: collection).map(Int64.init)
        }

        func collections(of prepared: PreparedQuery) -> [(number: Int64, path: CollectionPath)] {
            paths.enumerated().filter { prepared.covers($0.element) }
                .map { (Int64($0.offset), $0.element) }
        }

        func hasKeys(named name: String?) -> Bool { hasKeys }

        func page(
            named name: String?,
            in range: KeyRange,
            isBackward: Bool,
            most: Int
        ) -> [GroupOrder.Member] {
            let members = paths.enumerated().filter { name == nil || $0.element.name == name }
                .map { number, path in
                    GroupOrder.Member(
                        number: Int64(number),
                        path: path,
                        key: IndexKey.key(ofAllIn: path)
                    )
                }
                .filter { member in
                    !member.key.lexicographicallyPrecedes(range.first)
                        && (range.firstBehind.map(member.key.lexicographicallyPrecedes) ?? true)
                }
                .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            return Array((isBackward ? members.reversed() : members).prefix(most))
        }
    }

    private static let seed = SeededRandom.chosenSeed()
    private static let ids = ["a", "a-", "a0", "ab", "b", "é"]

    private static func path(_ random: inout SeededRandom) -> DocumentPath {
        let depth = Int.random(in: 1...4, using: &random)
        let parts = (0..<depth).map { level in
            let name =
                level == depth - 1 || Bool.random(using: &random)
                ? "c" : "d"
            return "\(name)/\(ids.randomElement(using: &random) ?? "a")"
        }
        return DocumentPath(parts.joined(separator: "/"))
    }

    /// Returns the documents of the ranges, in the order in which a store reads them.
    private static func read(
        _ query: DocumentQuery,
        among documents: Set<DocumentPath>,
        _ directory: Directory,
        in range: KeyRange,
        isBackward: Bool
    ) throws -> [DocumentPath] {
        var order = try GroupOrder(
            PreparedQuery(query),
            in: range,
            isBackward: isBackward,
            directory
        )
        var found: [DocumentPath] = []
        while let stretch = try order.next() {
            let collection = directory.paths[Int(stretch.collection)]
            let ids = documents.filter { $0.collection == collection }.map(\.id)
                .filter { id in stretch.bounds.allSatisfy { Self.holds(id, $0.sign, $0.id) } }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let stretched = ids.map { DocumentPath(collection, $0) }
            found += stretch.isBackward ? stretched.reversed() : stretched
        }
        return found
    }

    private static func holds(_ id: String, _ sign: String, _ bound: String) -> Bool {
        let isBefore = id.utf8.lexicographicallyPrecedes(bound.utf8)
        let isBehind = bound.utf8.lexicographicallyPrecedes(id.utf8)
        return switch sign {
        case ">=": !isBefore
        case ">": isBehind
        case "<=": !isBehind
        default: isBefore
        }
    }

    @Test("Groups are in path order in both directions between any bounds")
    func agrees() throws {
        print("GroupOrderTests: seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        for _ in 0..<300 {
            let documents = Set((0..<20).map { _ in Self.path(&random) })
            var directory = Directory(paths: Array(Set(documents.map(\.collection))).sorted())
            directory.hasKeys = Int.random(in: 0..<4, using: &random) > 0
            let sorted = documents.sorted()
            func cut() -> KeyRange.Cut? {
                guard Bool.random(using: &random) else { return nil }
                var key: [UInt8] = []
                IndexKey.append(path: sorted.randomElement(using: &random) ?? "c/a", to: &key)
                return Bool.random(using: &random) ? .before(key) : .after(key)
            }
            let range = KeyRange(from: cut(), to: cut())
            let isBackward = Bool.random(using: &random)
            let all = try Self.read(
                DocumentQuery(group: "c"),
                among: documents,
                directory,
                in: range,
                isBackward: isBackward
            )
            // Ranges may extend beyond the path range; engines check each document's position.
            let found = all.filter { Self.lies($0, in: range) }
            let expected = sorted.filter { $0.collection.name == "c" && Self.lies($0, in: range) }
            #expect(
                found == (isBackward ? expected.reversed() : expected),
                "seed \(Self.seed), backward: \(isBackward), range: \(range)"
            )
        }
    }

    private static func lies(_ path: DocumentPath, in range: KeyRange) -> Bool {
        var key: [UInt8] = []
        IndexKey.append(path: path, to: &key)
        return !key.lexicographicallyPrecedes(range.first)
            && (range.firstBehind.map(key.lexicographicallyPrecedes) ?? true)
    }
}
