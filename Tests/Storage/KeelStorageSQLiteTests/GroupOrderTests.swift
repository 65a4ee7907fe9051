#if SQLite
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@testable import KeelStorageSQLite

/// Groups in the order of their paths, including nested collections of the same name.
@Suite("Path order of collection groups and everything")
struct GroupOrderTests {
    private static let folderNames = ["c", "d"]
    // Two of them differ in their bytes but are equal in Swift.
    private static let ids = ["a", "a-", "a0", "ab", "b", "\u{e9}", "e\u{301}", "z"]

    private static func path(_ random: inout SeededRandom) -> DocumentPath {
        let depth = Int.random(in: 1...4, using: &random)
        let parts = (0..<depth).map { level in
            // The last collection usually belongs to the group.
            let name =
                level == depth - 1 && Int.random(in: 0..<5, using: &random) > 0
                ? "c" : folderNames.randomElement(using: &random) ?? "c"
            return "\(name)/\(ids.randomElement(using: &random) ?? "a")"
        }
        return DocumentPath(parts.joined(separator: "/"))
    }

    private static func query(
        _ paths: [DocumentPath],
        _ random: inout SeededRandom
    ) -> DocumentQuery {
        func bound() -> DocumentValue { .reference(paths.randomElement(using: &random) ?? "c/a") }
        let isBelow = Int.random(in: 0..<4, using: &random) == 0
        let ancestor = isBelow ? paths.randomElement(using: &random) ?? "c/a" : nil
        var query =
            Bool.random(using: &random)
            ? DocumentQuery(group: "c", under: ancestor) : .everything(under: ancestor)
        query = query.order(by: .documentID, Bool.random(using: &random) ? .ascending : .descending)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: query = query.start(at: bound())
        case 1: query = query.start(after: bound())
        default: break
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: query = query.end(at: bound())
        case 1: query = query.end(before: bound())
        default: break
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: query = query.limit(to: Int.random(in: 1...6, using: &random))
        case 1: query = query.limit(toLast: Int.random(in: 1...6, using: &random))
        default: break
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            query.offset = Int.random(in: 1...12, using: &random)
        }
        return query
    }

    /// Turns a file into one written by an earlier version.
    private static func removeKeys(_ adapter: SQLiteStorageAdapter) async throws {
        try await Tampering.run(
            """
            DROP INDEX collections_by_key;
            DROP INDEX collections_in_order;
            ALTER TABLE collections DROP COLUMN key;
            CREATE INDEX collections_by_name ON collections(name);
            """,
            on: adapter
        )
    }

    private enum File: CaseIterable {
        case new, migrated, earlierAndReadOnly, writtenByAnEarlierVersion
    }

    private static func stored(
        _ paths: [DocumentPath],
        as file: File
    ) async throws -> SQLiteStorageAdapter {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter()
        for path in paths { try await adapter.set(path, ["n": 1]) }
        switch file {
        case .new: return adapter
        case .migrated, .earlierAndReadOnly:
            try await removeKeys(adapter)
            try adapter.close()
            return try folder.adapter { $0.isReadOnly = file == .earlierAndReadOnly }
        case .writtenByAnEarlierVersion:
            try await Tampering.run(
                "UPDATE collections SET key = NULL WHERE cid % 2 = 0",
                on: adapter
            )
            return adapter
        }
    }

    @Test("Queries agree with the in-memory store", arguments: File.allCases)
    private func agree(_ file: File) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        for round in 0..<12 {
            let count = Int.random(in: 1...60, using: &random)
            let paths = Array(Set((0..<count).map { _ in Self.path(&random) }))
            let adapter = try await Self.stored(paths, as: file)
            let memory = InMemoryStorageAdapter()
            for path in paths { try await memory.set(path, ["n": 1]) }
            for _ in 0..<60 {
                let query = Self.query(paths, &random)
                let expected = try await memory.found(query).documents.map(\.path)
                let found = try await adapter.found(query).documents.map(\.path)
                let counts = try await adapter.values(query, [.count(), .count(upTo: 3)])
                let count = Int64(expected.count)
                guard found != expected || counts != [.integer(count), .integer(min(3, count))]
                else { continue }
                Issue.record(
                    "seed \(seed), round \(round): \(query) finds \(found), counts \(counts), not \(expected)"
                )
                return
            }
            try adapter.close()
        }
    }

    @Test("A page examines only its documents, regardless of the number of collections")
    func pages() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter()
        for start in stride(from: 0, to: 2_000, by: 500) {
            try await adapter.setEach(start..<start + 500) { number in
                ("users/\(10_000 + number)/notes/1", ["n": 1])
            }
        }
        let scopes: [DocumentQuery] = [
            DocumentQuery(group: "notes"), .everything(),
            .everything().start(at: .reference("users/10000/notes/1"))
                .end(at: .reference("users/11999/notes/1")),
        ]
        for scope in scopes {
            let all = scope.order(by: .documentID)
            var query = all.limit(to: 150)
            var count = 0
            while true {
                let (documents, plan) = try await adapter.found(query)
                #expect(plan?.access == .identifiers)
                #expect(plan?.examined ?? .max <= 150)
                count += documents.count
                guard let last = documents.last else { break }
                query = all.start(after: .reference(last.path)).limit(to: 150)
            }
            #expect(count == 2_000)
        }
        let below = DocumentQuery.everything(under: "users/11000").order(by: .documentID)
        let (documents, plan) = try await adapter.found(below)
        #expect(documents.map(\.path) == ["users/11000/notes/1"])
        #expect(plan?.examined == 1)
        try await adapter.databasePool.read { database in
            let sql = """
                EXPLAIN QUERY PLAN SELECT cid, path, key FROM collections
                WHERE name = 'notes' AND key >= x'00' AND key < x'FF' ORDER BY key LIMIT 200
                """
            let steps = try Row.fetchAll(database, sql: sql).map { $0["detail"] as String }
            #expect(
                steps == [
                    "SEARCH collections USING INDEX collections_by_key (name=? AND key>? AND key<?)"
                ]
            )
            let every = """
                EXPLAIN QUERY PLAN SELECT cid, path, key FROM collections
                WHERE key >= x'00' AND key < x'FF' ORDER BY key DESC LIMIT 200
                """
            #expect(
                try Row.fetchAll(database, sql: every).map { $0["detail"] as String }
                    == ["SEARCH collections USING INDEX collections_in_order (key>? AND key<?)"]
            )
        }
    }

    @Test("Two adapters that open an earlier file concurrently both find its keys")
    func migratesOnce() async throws {
        let folder = try TemporaryFolder()
        let first = try folder.adapter()
        for path: DocumentPath in ["c/1", "p/1/c/1"] { try await first.set(path, [:]) }
        try await Self.removeKeys(first)
        try first.close()
        async let one = Task { try folder.adapter() }.value
        async let other = Task { try folder.adapter() }.value
        for adapter in try await [one, other] {
            let query = DocumentQuery(group: "c").order(by: .documentID)
            #expect(try await adapter.found(query).documents.map(\.path) == ["c/1", "p/1/c/1"])
        }
    }
}
#endif
