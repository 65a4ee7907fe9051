#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

/// Files of the version before removals had times of their own.
///
/// The effects of that version are frozen here as statements.
@Suite("Files of the previous version")
struct FormerFileTests {
    /// The tables as created by that version.
    private static let tables = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
        CREATE TABLE state(
            one INTEGER PRIMARY KEY CHECK (one = 1),
            generation INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            trimmed INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE collections(
            cid INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL
        ) STRICT;
        CREATE INDEX collections_by_name ON collections(name);
        CREATE TABLE documents(
            rid INTEGER PRIMARY KEY,
            cid INTEGER NOT NULL,
            id TEXT NOT NULL,
            rev INTEGER NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            pending INTEGER NOT NULL,
            body BLOB NOT NULL,
            UNIQUE(cid, id)
        ) STRICT;
        CREATE TABLE indexes(
            ix INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            definition BLOB NOT NULL UNIQUE,
            built INTEGER
        ) STRICT;
        CREATE TABLE entries(
            ix INTEGER NOT NULL,
            cid INTEGER NOT NULL,
            key BLOB NOT NULL,
            rid INTEGER NOT NULL,
            PRIMARY KEY(ix, cid, key, rid)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE changes(
            seq INTEGER PRIMARY KEY,
            cid INTEGER NOT NULL,
            id TEXT NOT NULL,
            rev INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            mark INTEGER
        ) STRICT;
        CREATE TABLE receipts(
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            time INTEGER NOT NULL,
            receipt BLOB NOT NULL
        ) STRICT;
        CREATE TABLE readers(
            name TEXT PRIMARY KEY, seq INTEGER NOT NULL, seen INTEGER NOT NULL
        ) STRICT;
        INSERT INTO state VALUES (1, 0, 0, 0);
        CREATE TABLE IF NOT EXISTS moments(
            time INTEGER PRIMARY KEY, wall INTEGER NOT NULL, seq INTEGER NOT NULL
        ) STRICT;
        INSERT INTO meta VALUES ('epoch', x'0102030405060708');
        PRAGMA application_id = 0x4B45454C;
        PRAGMA user_version = 1;
        """

    /// Stores a document `{"n": …}` as that version did.
    private static func write(
        _ id: String,
        _ body: DocumentBody,
        at time: Int64,
        in database: Database
    )
        throws
    {
        try database.execute(
            sql: """
                INSERT INTO documents(rev, created, updated, pending, body, cid, id)
                VALUES (?, ?, ?, 0, ?, 1, ?)
                """,
            arguments: [time, time, time, Data(body.bytes), id]
        )
        try database.execute(
            sql: "INSERT INTO changes(seq, cid, id, rev, removed, mark) VALUES (?, 1, ?, ?, 0, ?)",
            arguments: [time, id, time, time * 7]
        )
    }

    private static func remove(_ id: String, at time: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM documents WHERE cid = 1 AND id = ?", arguments: [id])
        try database.execute(
            sql: "INSERT INTO changes(seq, cid, id, rev, removed, mark) VALUES (?, 1, ?, ?, 1, ?)",
            arguments: [time, id, time, time * 7]
        )
    }

    /// The receipt of a batch with the id “once” that wrote the first document.
    private static func keepReceipt(of time: Int64, in database: Database) throws {
        let outcome: DocumentValue = .map(["revision": .integer(time), "results": .array([])])
        let receipt = DocumentBody([
            "time": .timestamp(Timestamp(microseconds: time)), "sequence": .integer(time),
            "outcomes": .array([outcome]),
        ])
        try database.execute(
            sql: "INSERT INTO receipts(id, time, receipt) VALUES ('once', ?, ?)",
            arguments: [time, Data(receipt.bytes)]
        )
    }

    private static let now: Int64 = 1_780_000_000_000_000
    private static let later: Int64 = now + 14 * 365 * 86_400 * 1_000_000

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func adapter(_ time: Int64 = Self.now + 1_000_000) throws -> SQLiteStorageAdapter {
        try folder.adapter { $0.now = { Timestamp(microseconds: time) } }
    }

    private func makeFormer() async throws {
        let pool = try DatabasePool(path: folder.file().path(percentEncoded: false))
        try await pool.write { database in
            try database.execute(sql: Self.tables)
            try database.execute(sql: "INSERT INTO collections VALUES (1, 'a', 'a')")
            try Self.write("first", DocumentBody(["n": 1]), at: Self.now, in: database)
            try Self.keepReceipt(of: Self.now, in: database)
            try Self.write("gone", DocumentBody(["n": 1]), at: Self.now + 10, in: database)
            // Then its clock was wrong, and all later times continued from there.
            try Self.remove("gone", at: Self.later, in: database)
            try Self.write("ahead", DocumentBody(["n": 1]), at: Self.later + 1, in: database)
        }
        try pool.close()
    }

    @Test("Its files open, and new documents have the correct time")
    func opens() async throws {
        try await makeFormer()
        let adapter = try adapter()
        let (changes, next) = try await adapter.allChanges()
        #expect(changes.map(\.path.id).sorted() == ["ahead", "first"])
        let once = WriteBatch(id: "once", [DocumentWrite("a/first", .delete)])
        let receipt = try await adapter.apply(once)
        #expect(receipt.commitTime.microseconds == Self.now)
        #expect(receipt.outcomes.map(\.updateTime) == [receipt.commitTime])
        for id in ["new", "first"] {
            let receipt = try await adapter.set(DocumentPath("a/\(id)"), ["n": 2])
            #expect(receipt.commitTime.microseconds > Self.later + 1)
            let time = try #require(receipt.outcomes.first?.updateTime)
            #expect(time.microseconds == Self.now + 1_000_000)
        }
        for id in ["gone", "ahead"] {
            let receipt = try await adapter.set(DocumentPath("a/\(id)"), ["n": 2])
            #expect(try #require(receipt.outcomes.first?.updateTime).microseconds > Self.later)
        }
        #expect(try await adapter.allChanges(after: next).changes.count == 4)
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    @Test("The log of its files is compacted, and readers receive the changes")
    func isCompacted() async throws {
        try await makeFormer()
        let former = try adapter()
        let (_, start) = try await former.allChanges()
        try await former.registerReader("sync", at: start)
        try await former.databasePool.write { database in
            // The state left by that version: a reader without a lifetime, changes without totals.
            try database.execute(sql: "UPDATE readers SET lifetime = NULL")
            for number in 1...20 {
                let time = Self.later + Int64(number) + 1
                try Self.write("n\(number)", DocumentBody(["n": 1]), at: time, in: database)
            }
            try Self.remove("n20", at: Self.later + 30, in: database)
            try Self.remove("ahead", at: Self.later + 31, in: database)
        }
        try former.close()
        let adapter = try folder.adapter { configuration in
            configuration.now = { Timestamp(microseconds: Self.now + 2_000_000) }
            configuration.retention = .init(bytes: 0)
        }
        for number in Int64(0)..<5 { try await adapter.set("a/first", ["n": .integer(number)]) }
        try await adapter.compact()
        let changes = try await adapter.allChanges(after: start).changes
        #expect(changes.count == 22)
        let removals = changes.count { if case .removed = $0 { true } else { false } }
        #expect(removals == 2)
        let rows = try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM changes") ?? 0
        }
        // The first change of both versions, three removals, 19 documents, and the last change.
        #expect(rows == 25)
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    @Test("Its files can be opened read-only")
    func readsOnly() async throws {
        try await makeFormer()
        let adapter = try folder.adapter { $0.isReadOnly = true }
        #expect(try await adapter.document("a/first")?["n"] == 1)
        #expect(try await adapter.allChanges().changes.count == 2)
        try adapter.close()
    }

    @Test("The previous version rejects current files")
    func isRefused() async throws {
        let adapter = try adapter()
        try await adapter.set("a/one", ["n": 1])
        let version = try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "PRAGMA user_version")
        }
        // That version knew formats up to 4.
        #expect(version == 5)
        try adapter.close()
    }
}
#endif
