import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Index of targets")
struct TargetIndexTests {
    private static let colors: [DocumentValue] = [
        "red", "blue", .integer(1), .double(1), .null, .double(.nan), .array(["red"]),
    ]

    private static func query(_ color: DocumentValue) -> DocumentQuery {
        DocumentQuery("notes").where(.field("color", .equal, color))
    }

    @Test("A change finds each target whose result contains the document, or contained it before")
    func changes() throws {
        var random = SeededRandom(seed: 3)
        var index = TargetIndex()
        let queries = Self.colors.map(Self.query)
        for (number, query) in queries.enumerated() {
            let key = TargetIndex.Key(stream: UInt64(number), target: 2)
            let equality = try #require(TargetIndex.Equality(query))
            index.insert(key, equality, documents: [])
        }
        let prepared = queries.map { PreparedQuery($0) }
        var former: [DocumentPath: Set<Int>] = [:]
        for step in 0..<2_000 {
            let path = DocumentPath("notes/\(Int.random(in: 0..<10, using: &random))")
            var fields: DocumentFields = [:]
            if Int.random(in: 0..<5, using: &random) > 0 {
                fields["color"] = Self.colors.randomElement(using: &random)
            }
            let document = Document.stub(
                path,
                fields,
                revision: Int64(step),
                at: Timestamp(microseconds: 1)
            )
            let isGone = Int.random(in: 0..<4, using: &random) == 0
            let change: ChangePage.Change =
                isGone ? .removed(path, Revision(number: 1)) : .current(document)
            let matching = Set(
                prepared.indices.filter { !isGone && prepared[$0].place(of: document) != nil }
            )
            let found = Set(index.targets(of: change).map { Int($0.stream) })
            #expect(found.isSuperset(of: matching.union(former[path] ?? [])))
            #expect(found.count <= 4, "few targets are found for nothing")
            former[path] = matching
        }
    }

    @Test("A removed target is not found, and one without such a condition is found by its scope")
    func removals() throws {
        var index = TargetIndex()
        let equality = try #require(TargetIndex.Equality(Self.query("red")))
        let key = TargetIndex.Key(stream: 1, target: 2)
        let scope = ChangeScope.query(DocumentQuery("notes"))
        index.insert(key, equality, documents: ["notes/1"])
        let gone = ChangePage.Change.removed("notes/1", Revision(number: 1))
        index.remove(key, for: scope)
        #expect(index.targets(of: gone).isEmpty)
        index.insert(key, for: scope)
        #expect(index.targets(of: gone) == [key])
        index.remove(key, for: scope)
        #expect(index.targets(of: gone).isEmpty)
    }

    @Test("Nothing is left of removed targets, even of documents that never change again")
    func memory() throws {
        var index = TargetIndex()
        let equality = try #require(TargetIndex.Equality(Self.query("red")))
        let scope = ChangeScope.query(DocumentQuery("notes"))
        let paths = (0..<100).map { DocumentPath("notes/\($0)") }
        let keys = (0..<1_000).map { TargetIndex.Key(stream: $0, target: 2) }
        for key in keys { index.insert(key, equality, documents: paths) }
        #expect(index.documentCount == 100)
        // A document comes to the results, and another one leaves them.
        let red = Document.stub("notes/new", ["color": "red"], at: Timestamp(microseconds: 1))
        #expect(index.targets(of: .current(red)).count == 1_000)
        let gone = ChangePage.Change.removed("notes/0", Revision(number: 1))
        #expect(index.targets(of: gone).count == 1_000)
        #expect(index.documentCount == 100)
        for key in keys.dropLast() { index.remove(key, for: scope) }
        #expect(index.targets(of: .current(red)) == [keys[999]])
        index.remove(keys[999], for: scope)
        #expect(index.documentCount == 0)
        #expect(index.targets(of: .current(red)).isEmpty)
    }

    @Test("Only conditions that all documents of a collection’s query fulfill are used")
    func equalities() {
        let either = DocumentFilter.or([.field("a", .equal, 1), .field("b", .equal, 1)])
        #expect(TargetIndex.Equality(DocumentQuery("notes").where(either)) == nil)
        let group = DocumentQuery(group: "notes").where(.field("a", .equal, 1))
        #expect(TargetIndex.Equality(group) == nil)
        let range = DocumentFilter.and([.field("b", .less, 3), .field("a", .equal, 1)])
        #expect(TargetIndex.Equality(DocumentQuery("notes").where(range))?.field == "a")
        let name = DocumentQuery("notes").where(.field(.documentID, .equal, .reference("notes/1")))
        #expect(TargetIndex.Equality(name) == nil)
    }
}
