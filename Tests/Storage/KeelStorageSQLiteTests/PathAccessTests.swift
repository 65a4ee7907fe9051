#if SQLite
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Cost of conditions and orders on paths")
struct PathAccessTests {
    /// 200 notes of each of ten users, and 200 without a user.
    private static func adapter() async throws -> SQLiteStorageAdapter {
        let adapter = try TemporaryFolder().adapter()
        for user in 0..<10 {
            try await adapter.setEach(0..<200) { number in
                ("users/\(user)/notes/\(1_000 + number)", ["n": .integer(Int64(number % 7))])
            }
        }
        try await adapter.setEach(0..<200) { number in
            ("notes/\(1_000 + number)", ["n": .integer(Int64(number % 7))])
        }
        return adapter
    }

    private static let group = DocumentQuery(group: "notes")
    private static let user = DocumentQuery("users/3/notes")

    /// A query, the number of documents that it finds, and the largest number that it may examine.
    private static let cases: [(name: String, query: DocumentQuery, found: Int, examined: Int)] = [
        ("one id", user.where(.equal(.documentID, "1007")), 1, 1),
        ("one id, missing", user.where(.equal(.documentID, "7")), 0, 0),
        ("ids", user.where(.in(.documentID, ["1007", "1009", "x"])), 2, 2),
        (
            "ids by another order",
            user.where(.in(.documentID, ["1001", "1006", "1009"]))
                .order(by: "n", .descending), 3, 3
        ),
        (
            "an id and a condition", user.where(.equal(.documentID, "1007")).where(.equal("n", 1)),
            0, 1
        ),
        (
            "paths of a group",
            group.where(
                .in(.documentID, [.reference("users/3/notes/1007"), .reference("notes/1009")])
            ), 2, 2
        ),
        (
            "an id or a range",
            user.where(.or([.equal(.documentID, "1007"), .greater(.documentID, "1197")])), 3, 4
        ),
        (
            "a range",
            user.where(.greaterOrEqual(.documentID, "1010")).where(.less(.documentID, "1020")),
            10, 11
        ),
        (
            "a range, backward",
            user.where(.greater(.documentID, "1010")).where(.less(.documentID, "1020"))
                .order(by: .documentID, .descending), 9, 11
        ),
        (
            "all but one, the first five", user.where(.notEqual(.documentID, "1000")).limit(to: 5),
            5, 6
        ),
        ("the first five of a group", group.limit(to: 5), 5, 5),
        ("the last five of a group", group.order(by: .documentID).limit(toLast: 5), 5, 5),
        (
            "a page of a group",
            group.order(by: .documentID)
                .start(after: .reference("users/3/notes/1197")).limit(to: 5), 5, 6
        ),
        (
            "a range of a group",
            group.where(.greater(.documentID, .reference("users/3/notes/1197")))
                .where(.less(.documentID, .reference("users/4/notes/1002"))), 4, 6
        ),
        (
            "a user's part of a group",
            DocumentQuery(group: "notes", under: "users/3").limit(to: 5),
            5, 5
        ),
    ]

    @Test("Each query examines only the documents it finds, even in strict mode")
    func plans() async throws {
        let adapter = try await Self.adapter()
        for (name, query, found, examined) in Self.cases {
            var request = ReadRequest(.query(try QueryValidation.checked(query)))
            request.isStrict = true
            let result = try await adapter.read(request)
            guard case .found(let documents) = result.payload else {
                Issue.record("\(name)")
                continue
            }
            #expect(documents.count == found, "\(name)")
            let plan = try #require(result.plan, "\(name)")
            #expect(plan.access == .identifiers, "\(name)")
            #expect(plan.examined <= examined, "\(name)")
        }
    }

    @Test("An equality index is read from the start of the id range")
    func indexed() async throws {
        let adapter = try await Self.adapter()
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("notes", [.ascending("n")])])
        )
        let query = try QueryValidation.checked(
            Self.user.where(.equal("n", 3)).where(.greater(.documentID, "1190"))
        )
        let (documents, plan) = try await adapter.found(query)
        #expect(documents.map(\.path.id) == ["1192", "1199"])
        #expect(plan?.examined == 2)
        #expect(try await adapter.values(query, [.count()]) == [.integer(2)])
    }

    @Test("A limited query with a condition and an order examines only the documents it finds")
    func limited() async throws {
        let adapter = try TemporaryFolder().adapter()
        let composite = IndexDefinition("places", [.ascending("kind"), .descending("score")])
        let group = IndexDefinition("places", scope: .group, [.ascending("kind")])
        try await adapter.prepare(StorageSchema(indexes: [composite, group]))
        for area in 0..<5 {
            try await adapter.setEach(0..<100) { number in
                (
                    "areas/\(area)/places/\(100 + number)",
                    ["kind": .integer(Int64(number % 4)), "score": .integer(Int64(number))]
                )
            }
        }
        let area = DocumentQuery("areas/3/places").where(.equal("kind", 1))
        let (best, plan) = try await adapter.found(
            area.order(by: "score", .descending).limit(to: 20)
        )
        #expect(best.map(\.path.id) == (0..<20).map { "\(197 - 4 * $0)" })
        #expect(plan?.access == .index(composite.name))
        #expect(plan?.examined ?? .max <= 21)
        let everywhere = DocumentQuery(group: "places").where(.equal("kind", 2)).limit(to: 10)
        let (first, groupPlan) = try await adapter.found(everywhere)
        #expect(first.map(\.path.string) == (0..<10).map { "areas/0/places/\(102 + 4 * $0)" })
        #expect(groupPlan?.access == .index(group.name))
        #expect(groupPlan?.examined ?? .max <= 11)
    }

    @Test("A nested group is in path order")
    func nested() async throws {
        let adapter = try TemporaryFolder().adapter()
        let paths: [DocumentPath] = [
            "c/a", "c/a/c/x", "c/a/c/y", "c/a/c/y/c/1", "c/a-", "c/b", "p/1/c/a", "p/1-/c/a",
        ]
        for path in paths.reversed() { try await adapter.set(path, [:]) }
        let all = DocumentQuery(group: "c").order(by: .documentID)
        #expect(try await adapter.found(all).documents.map(\.path) == paths)
        var joined: [DocumentPath] = []
        while joined.count < paths.count {
            var page = all.limit(to: 3)
            if let last = joined.last { page = page.start(after: .reference(last)) }
            let next = try await adapter.found(page).documents.map(\.path)
            try #require(!next.isEmpty)
            joined += next
        }
        #expect(joined == paths)
        let backward = DocumentQuery(group: "c").order(by: .documentID, .descending)
        #expect(try await adapter.found(backward).documents.map(\.path) == paths.reversed())
        let values = try await adapter.values(all.limit(to: 5), [.count()])
        #expect(values == [.integer(5)])
    }
}
#endif
