#if SQLite
import Foundation
import GRDB
import KeelStorage
import Testing

@testable import KeelStorageSQLite

/// Files whose indexes have whole keys with whole paths, as written by versions 1 and 2.
@Suite("Indexes of files of previous versions")
struct FormerIndexTests {
    private static let index = IndexDefinition("a", [.ascending("v")])
    private static let count = 30

    private static func value(_ number: Int) -> String {
        String(repeating: "x", count: number.isMultiple(of: 3) ? 2_000 : 3) + "\(100 + number)"
    }

    private static let query = DocumentQuery("a").order(by: "v")
    private static var sorted: [String] {
        (0..<count).sorted { value($0) < value($1) }.map(String.init)
    }

    /// The definition as written by those versions.
    private static let definition = DocumentBody([
        "collection": "a", "scope": "collection", "equality": false,
        "components": [.map(["field": ["v"], "kind": "ascending"])],
    ]).bytes

    /// Turns a file into one written by a former version.
    private static func makeFormer(_ folder: TemporaryFolder, hasHistory: Bool) async throws {
        let adapter = try folder.adapter { if hasHistory { $0.history = .seconds(3_600) } }
        for number in 0..<count {
            try await adapter.set("a/\(number)", ["v": .string(value(number))])
        }
        try await adapter.databasePool.write { database in
            try database.execute(
                sql:
                    "INSERT INTO indexes(ix, name, definition, built) VALUES (7, 'a(v+)', ?, NULL)",
                arguments: [Data(definition)]
            )
            for number in 0..<count {
                var key = IndexKey.key(.string(value(number)))
                IndexKey.append(path: "a/\(number)", to: &key)
                try database.execute(
                    sql: """
                        INSERT INTO entries(ix, cid, key, rid)
                        SELECT 7, cid, ?, rid FROM documents WHERE id = ?
                        """,
                    arguments: [Data(key), "\(number)"]
                )
            }
            try database.execute(
                sql: """
                    DROP INDEX collections_in_order;
                    UPDATE state SET generation = generation + 1;
                    PRAGMA user_version = \(hasHistory ? 2 : 1);
                    """
            )
        }
        try adapter.close()
    }

    @Test("They are rebuilt, and queries scan until then", arguments: [false, true])
    func renewed(hasHistory: Bool) async throws {
        let folder = try TemporaryFolder()
        try await Self.makeFormer(folder, hasHistory: hasHistory)
        let adapter = try folder.adapter { if hasHistory { $0.history = .seconds(3_600) } }
        let (before, plan) = try await adapter.found(Self.query)
        #expect(before.map(\.id) == Self.sorted)
        #expect(plan?.access == .scan && plan?.suggestion == nil)
        // Concurrent writers maintain the new index.
        try await adapter.set("a/new", ["v": "a"])
        try await adapter.delete("a/0")
        try await adapter.prepare(StorageSchema(indexes: [Self.index]))
        let expected = ["new"] + Self.sorted.filter { $0 != "0" }
        for _ in 0..<2 {
            let (found, plan) = try await adapter.found(Self.query)
            #expect(found.map(\.id) == expected)
            #expect(plan?.access == .index(Self.index.name))
        }
        #expect(try await adapter.checkIntegrity().problems == [])
        let (rows, version) = try await adapter.databasePool.read { database in
            (
                try Int.fetchAll(database, sql: "SELECT count(*) FROM entries GROUP BY ix"),
                try Int.fetchOne(database, sql: "PRAGMA user_version")
            )
        }
        #expect(rows == [Self.count])
        #expect(version == (hasHistory ? 6 : 5))
        #expect(try await adapter.indexes().map(\.name) == [Self.index.name])
        try adapter.close()
        // The second opening has nothing to do.
        let again = try folder.adapter { if hasHistory { $0.history = .seconds(3_600) } }
        #expect(try await again.found(Self.query).plan?.access == .index(Self.index.name))
        try again.close()
    }

    @Test("Queries on a read-only file scan")
    func readsOnly() async throws {
        let folder = try TemporaryFolder()
        try await Self.makeFormer(folder, hasHistory: false)
        let adapter = try folder.adapter { $0.isReadOnly = true }
        try await adapter.prepare(StorageSchema(indexes: [Self.index]))
        let (found, plan) = try await adapter.found(Self.query)
        #expect(found.map(\.id) == Self.sorted)
        #expect(plan?.access == .scan)
        #expect(try await adapter.found(.everything().limit(to: 3)).documents.count == 3)
        try adapter.close()
    }
}
#endif
