#if SQLite
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Cost of counts", .timeLimit(.minutes(10)))
struct CountTests {
    private static func adapter() async throws -> SQLiteStorageAdapter {
        let adapter = try TemporaryFolder().adapter()
        for shop in ["x", "y"] {
            try await adapter.setEach(0..<400) { number in
                (
                    "shops/\(shop)/items/\(1_000 + number)",
                    ["n": .integer(Int64(number)), "even": .boolean(number.isMultiple(of: 2))]
                )
            }
        }
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("items", [.ascending("n")])])
        )
        return adapter
    }

    private static let items = DocumentQuery("shops/x/items")

    /// A query, its number of documents, and whether a count reads only the counted documents.
    private static let cases: [(name: String, query: DocumentQuery, count: Int, isExact: Bool)] = [
        ("all", items, 400, true),
        ("by an index", items.where(.less("n", 300)), 300, true),
        ("by a scan", items.where(.equal("even", true)), 200, false),
        ("by two ways", items.where(.or([.less("n", 100), .greaterOrEqual("n", 300)])), 200, true),
        ("a group", DocumentQuery(group: "items"), 800, true),
        ("with an offset", items.where(.less("n", 300)).offset(290), 10, true),
        ("with a limit", items.order(by: "n").limit(to: 30), 30, true),
        ("the last ones", items.order(by: "n").limit(toLast: 30), 30, true),
        ("none", items.where(.less("n", 0)), 0, true),
    ]

    @Test("A count stops at its limit and is complete without one")
    func stops() async throws {
        let adapter = try await Self.adapter()
        for (name, query, count, isExact) in Self.cases {
            let query = try QueryValidation.checked(query)
            #expect(
                try await adapter.values(query, [.count()]) == [.integer(Int64(count))],
                "\(name)"
            )
            for bound in [1, 7, 1_000] {
                let request = ReadRequest(.aggregate(query, [.count(upTo: bound)]))
                let result = try await adapter.read(request)
                guard case .values(let values) = result.payload else {
                    Issue.record("\(name)")
                    continue
                }
                let expected = min(count, bound)
                #expect(values == [.integer(Int64(expected))], "\(name), up to \(bound)")
                let most = (expected + query.offset) * (isExact ? 1 : 2)
                let examined = try #require(result.plan).examined
                #expect(examined <= most || bound == 1_000, "\(name), up to \(bound)")
            }
            #expect(
                try await adapter.values(query, [.count(upTo: 5), .count()])
                    == [.integer(Int64(min(count, 5))), .integer(Int64(count))],
                "\(name)"
            )
        }
    }

    @Test("An array of 20,000 elements can be indexed, changed and found")
    func arrays() async throws {
        let adapter = try TemporaryFolder().adapter()
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("a", [.contains("tags")])])
        )
        let all = (0..<20_000).map { DocumentValue.integer(Int64($0)) }
        try await adapter.set("a/1", ["tags": .array(all)])
        let more = (10_000..<30_000).map { DocumentValue.integer(Int64($0)) }
        for operation in [
            FieldTransform.Operation.arrayUnion(more), .arrayRemove(Array(more.prefix(5_000))),
        ] {
            let change = FieldChange("tags", .transform(operation))
            try await adapter.apply(WriteBatch([DocumentWrite("a/1", .update([change]))]))
        }
        let document = try #require(try await adapter.document("a/1"))
        #expect(document["tags"]?.arrayValue?.count == 25_000)
        func isFound(_ number: Int64) async throws -> Bool {
            let query = DocumentQuery("a").where(.arrayContains("tags", .integer(number)))
            return try await adapter.found(query).documents.count == 1
        }
        #expect(try await isFound(29_999))
        #expect(try await isFound(0))
        #expect(try await isFound(12_000) == false)
    }
}
#endif
