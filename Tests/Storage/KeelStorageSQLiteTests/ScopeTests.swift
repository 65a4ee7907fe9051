#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Scopes and origins in the change log")
struct ScopeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("log pages and copies end with the contents of any scope", arguments: 1...40)
    func random(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let adapter = try folder.adapter("\(seed).sqlite")
        var scope = ChangeScope()
        let interests: [ChangeScope] = [
            .documents(["a/1", "a/2", "b/1", "none/1"]), .collections(["b", "none"]),
            .groups(["g"]), .query(DocumentQuery("a").where(.greater("n", 4))),
            .query(DocumentQuery(group: "g", under: "b/1")),
            .documents(Set((0..<20).map { "b/\($0)" })),
        ]
        for interest in interests where Bool.random(using: &random) { scope.formUnion(interest) }
        let filter = ScopeFilter(scope)
        var copy: [DocumentPath: Document] = [:]
        var cursor: ChangeCursor?
        for _ in 0..<60 {
            let collections: [CollectionPath] = ["a", "b", "c", "a/1/g", "b/1/g", "g"]
            let collection = collections[Int.random(in: 0..<6, using: &random)]
            let path = collection.document("\(Int.random(in: 0..<5, using: &random))")
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await adapter.delete(path)
            } else {
                try await adapter.set(
                    path,
                    ["n": .integer(Int64.random(in: 0..<9, using: &random))]
                )
            }
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            cursor = try await read(1 + Int(random.next() % 4), &copy, cursor, scope, adapter)
        }
        for _ in 0..<200 {
            let before = cursor
            cursor = try await read(3, &copy, cursor, scope, adapter)
            if before == cursor { break }
        }
        var expected: [DocumentPath: Document] = [:]
        for change in try await adapter.allChanges().changes {
            if case .current(let document) = change, filter.matches(document) {
                expected[document.path] = document
            }
        }
        #expect(copy == expected, "seed \(seed), \(scope)")
    }

    @Test("A copy of groups and single documents reads many collections in parts", arguments: 1...6)
    func manyCollections(limit: Int) async throws {
        let adapter = try folder.adapter("many-\(limit).sqlite")
        for number in 0..<70 {
            try await adapter.set("u/\(number)/\(number % 3 == 0 ? "h" : "g")/1", ["n": 1])
            try await adapter.set("u/\(number)/other/1", ["n": 1])
            if number == 40 { try await adapter.set("u/1/g/2", ["n": 1]) }
        }
        var scope = ChangeScope.groups(["g"])
        scope.formUnion(.query(DocumentQuery(group: "h", under: "u/30")))
        scope.formUnion(.documents(["u/5/other/1", "u/69/other/1", "u/5/g/1"]))
        var paths: [DocumentPath] = []
        var cursor: ChangeCursor?
        for _ in 0..<200 {
            let request = ChangeRequest(after: cursor, scope: scope, limit: limit)
            let page = try await adapter.changes(request)
            #expect(page.changes.count <= limit)
            paths += page.changes.map(\.path)
            cursor = page.next
            if page.isCaughtUp { break }
        }
        let expected = try await adapter.allChanges().changes.map(\.path)
            .filter(ScopeFilter(scope).contains)
        #expect(expected.count == 50)
        #expect(paths.sorted() == expected.sorted())
    }

    private func read(
        _ limit: Int,
        _ copy: inout [DocumentPath: Document],
        _ cursor: ChangeCursor?,
        _ scope: ChangeScope,
        _ adapter: SQLiteStorageAdapter
    ) async throws -> ChangeCursor {
        let page = try await adapter.changes(
            ChangeRequest(after: cursor, scope: scope, limit: limit)
        )
        #expect(page.changes.count <= limit)
        for change in page.changes {
            #expect(ScopeFilter(scope).contains(change.path))
            if case .current(let document) = change {
                copy[document.path] = document
            } else {
                copy[change.path] = nil
            }
        }
        return page.next
    }

    @Test("catching up through deletions looks up each one without scanning the log")
    func deletions() async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/0", [:]).position
        for first in stride(from: 0, to: 3_000, by: 500) {
            let paths = (first..<first + 500).map { DocumentPath("a/\($0)") }
            try await adapter.apply(
                WriteBatch(try paths.map { try DocumentWrite.set([:], at: $0) })
            )
        }
        for first in stride(from: 0, to: 3_000, by: 500) {
            let paths = (first..<first + 500).map { DocumentPath("a/\($0)") }
            try await adapter.apply(WriteBatch(paths.map { DocumentWrite.delete($0) }))
        }
        let changes = try await adapter.allChanges(after: start, limit: 100).changes
        #expect(Set(changes.map(\.path)).count == 3_000)
        let plan = try await adapter.databasePool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    EXPLAIN QUERY PLAN
                    SELECT rev FROM changes WHERE cid = 1 AND id = 'x' AND removed = 1 AND seq > 5
                    ORDER BY seq DESC LIMIT 1
                    """
            ).map { $0["detail"] as String }
        }
        #expect(plan.count == 1)
        #expect(plan.first?.contains("INDEX removals (cid=? AND id=? AND seq>?)") == true)
    }

    @Test("pages of the log and of copies search from their position")
    func plans() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/0", [:])
        let number = "USING INTEGER PRIMARY KEY (rowid>?)"
        let plans = [
            "SELECT * FROM changes WHERE seq > 5 ORDER BY seq": "SEARCH changes \(number)",
            """
            SELECT * FROM changes WHERE seq > 5 AND cid IN (1, 2) AND id IN ('x', 'y')
            ORDER BY seq
            """: "SEARCH changes \(number)",
            "SELECT * FROM documents d WHERE d.rid > 5 ORDER BY d.rid": "SEARCH d \(number)",
            // The collections of a group, whose documents follow by id.
            "SELECT cid, path FROM collections WHERE cid >= 5 AND +name = 'a' ORDER BY cid":
                "SEARCH collections \(number)",
            "SELECT * FROM documents d WHERE d.cid = 1 AND d.id > 'x' ORDER BY d.id ASC":
                "SEARCH d USING INDEX sqlite_autoindex_documents_1 (cid=? AND id>?)",
        ]
        try await adapter.databasePool.read { database in
            for (sql, plan) in plans {
                let steps = try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(sql)")
                    .map { $0["detail"] as String }
                #expect(steps == [plan], "\(sql)")
            }
        }
    }

    @Test("a scope of few documents or collections reads no other bodies")
    func readsNoOtherBody() async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/wanted", ["n": 1]).position
        for number in 0..<50 { try await adapter.set("a/\(number)", [:]) }
        // A body that is read would be reported as damaged.
        try await Tampering.run(
            "UPDATE documents SET body = x'ff' WHERE id <> 'wanted'",
            on: adapter
        )
        try await adapter.set("a/wanted", ["n": 2])
        let one = try await adapter.allChanges(after: start, scope: .documents(["a/wanted"]))
        #expect(one.changes.map(\.path) == ["a/wanted"])
        let copy = try await adapter.allChanges(scope: .documents(["a/wanted", "b/1"]))
        #expect(copy.changes.map(\.path) == ["a/wanted"])
    }
}
#endif
