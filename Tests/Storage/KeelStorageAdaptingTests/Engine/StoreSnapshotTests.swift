import KeelStorageAdapting
import KeelTestKit
import Testing

/// Tests of the engine over a store in memory that answers with sets of rows.
@Suite("Queries over sets of rows")
struct StoreSnapshotTests {
    private static let seed = SeededRandom.chosenSeed()

    private static let definitions = [
        IndexDefinition("notes", [.ascending("a"), .descending("b")]),
        IndexDefinition("notes", [.ascending("b")]),
        IndexDefinition("notes", [.contains("tags"), .ascending("a")]),
        IndexDefinition("notes", scope: .group, [.descending("a")]),
        IndexDefinition("notes", [.ascending("long")]),
    ]

    private static func document(_ number: Int, _ random: inout SeededRandom) -> Document {
        let collection = ["notes", "users/x/notes", "users/y/notes", "others"]
            .randomElement(using: &random)
        var fields: DocumentFields = [
            "a": .integer(.random(in: 0..<4, using: &random)),
            "tags": .array(["x", "y", "z"].filter { _ in Bool.random(using: &random) }),
            // Keys of this length are cut, and the documents form a tie.
            "long": .string(
                String(repeating: "m", count: 2_000) + "\(Int.random(in: 0..<9, using: &random))"
            ),
        ]
        if Bool.random(using: &random) {
            fields["b"] = .integer(.random(in: 0..<9, using: &random))
        }
        return Document(
            path: DocumentPath("\(collection ?? "notes")/\(number)"),
            body: DocumentBody(fields),
            revision: Revision(number: Int64(number)),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 2)
        )
    }

    private static func query(_ random: inout SeededRandom) throws -> DocumentQuery {
        var query =
            Int.random(in: 0..<3, using: &random) == 0
            ? DocumentQuery(group: "notes") : DocumentQuery("notes")
        switch Int.random(in: 0..<7, using: &random) {
        case 0: query = query.where(.equal("a", 2)).order(by: "b", .descending)
        case 1: query = query.where(.greater("b", 3))
        case 2: query = query.where(.in("a", [1, 3]))
        case 3: query = query.where(.arrayContains("tags", "y"))
        case 4: query = query.order(by: "long")
        case 5: query = query.order(by: "a", .descending)
        default: break
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: query = query.limit(to: Int.random(in: 0..<9, using: &random))
        case 1 where !query.orders.isEmpty:
            query = query.limit(toLast: Int.random(in: 1..<9, using: &random))
        default: break
        }
        if Bool.random(using: &random) { query.offset = Int.random(in: 0..<5, using: &random) }
        return try QueryValidation.checked(query)
    }

    @Test("queries, counts and sums over sets of rows agree with the evaluator")
    func agrees() throws {
        print("StoreSnapshotTests: seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        let documents = (1...50).map { Self.document($0, &random) }
        let store = try TableSnapshot(documents, Self.definitions)
        let indexes = IndexSet(generation: 1, all: store.indexes)
        var served = 0
        for _ in 0..<100 {
            let query = try Self.query(&random)
            let expected = try StorageEvaluator.result(of: query, among: documents)
            let found = try store.answer(ReadRequest(.query(query)), past: nil) { indexes }
            let result = try found.found
            #expect(result == expected, "seed \(Self.seed): \(query)")
            if case .index? = found.plan?.access { served += 1 }
            let aggregations: [Aggregation] = [.count(), .sum("a")]
            let values = try store.answer(
                ReadRequest(.aggregate(query, Array(aggregations.prefix(1)))),
                past: nil
            ) { indexes }
            let counts = try values.values
            #expect(counts == [.integer(Int64(expected.count))], "seed \(Self.seed): \(query)")
            let sums = try store.answer(
                ReadRequest(.aggregate(query, aggregations)),
                past: nil
            ) { indexes }
            let totals = try sums.values
            let summed = try StorageEvaluator.result(
                of: query.ordered(for: aggregations),
                among: documents
            )
            #expect(
                try totals == StorageEvaluator.values(of: aggregations, over: summed),
                "seed \(Self.seed): \(query)"
            )
        }
        #expect(served > 10)
    }

    @Test("documents at paths come in the order of the paths, up to a size")
    func paths() throws {
        var random = SeededRandom(seed: 1)
        let documents = (1...9).map { Self.document($0, &random) }
        let store = try TableSnapshot(documents, [])
        let paths = [documents[4].path, "notes/none", documents[1].path, documents[4].path]
        func read(_ maximumBytes: Int?) throws -> ReadResult {
            var request = ReadRequest(.documents(paths))
            request.maximumBytes = maximumBytes
            return try store.answer(request, past: nil) { IndexSet(generation: 1, all: []) }
        }
        let whole = try read(nil)
        let all = try whole.documents
        #expect(all == [documents[4], nil, documents[1], documents[4]])
        #expect(!whole.isPartial)
        let cut = try read(1)
        let first = try cut.documents
        #expect(first == [documents[4]])
        #expect(cut.isPartial)
    }
}
