#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

/// Cursors of a store whose file was restored to an earlier state.
///
/// All adapters share a clock, so that the new history has the same sequences as the old one, and only the marks of
/// commits distinguish them.
@Suite("Restored files", .timeLimit(.minutes(5)))
struct RestoredFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func adapter(
        _ change: (inout SQLiteStorageAdapter.Configuration) -> Void = { _ in }
    ) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.now = { Timestamp(microseconds: 1_000_000) }
            change(&configuration)
        }
    }

    /// Copies the store's files like `cp` or a disk snapshot.
    private func copyFiles(to name: String) throws {
        let copy = folder.file(name)
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for ending in ["", "-wal"] {
            let file = folder.file("Store.sqlite\(ending)")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.copyItem(at: file, to: copy.appending(path: "s\(ending)"))
        }
    }

    private func putBack(_ name: String) throws {
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(at: folder.file("Store.sqlite\(ending)"))
            let file = folder.file(name).appending(path: "s\(ending)")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let place = folder.file("Store.sqlite\(ending)")
            try FileManager.default.copyItem(at: file, to: place)
        }
    }

    private func position(_ adapter: SQLiteStorageAdapter) async throws -> ChangeCursor {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try #require(try await adapter.read(request).position)
    }

    private func fill(
        _ adapter: SQLiteStorageAdapter,
        _ numbers: ClosedRange<Int64>,
        _ text: String
    ) async throws {
        for number in numbers {
            try await adapter.set("a/\(number)", ["n": .integer(number), "text": .string(text)])
        }
    }

    @Test(
        "A restored file rejects cursors of lost changes and accepts earlier ones",
        arguments: [true, false]
    )
    func refuses(_ isClosed: Bool) async throws {
        var adapter = try adapter()
        try await fill(adapter, 1...5, "shared")
        let before = try await position(adapter)
        // Closed, all data is in the file itself; open, some is in the log beside it.
        if isClosed {
            try adapter.close()
            try copyFiles(to: "copy")
            adapter = try self.adapter()
        } else {
            try copyFiles(to: "copy")
        }
        #expect(try await adapter.allChanges(after: before).changes.isEmpty)
        try await fill(adapter, 6...9, "lost")
        let lost = try await position(adapter)
        let receipt = try await adapter.apply(
            WriteBatch(id: "b", [DocumentWrite("a/10", .set(DocumentBody(["n": 10])))])
        )
        let partial = try await adapter.changes(ChangeRequest(limit: 2)).next
        let scoped = try await adapter.changes(
            ChangeRequest(scope: .collections(["a"]), limit: 2)
        ).next
        let later = try await adapter.changes(ChangeRequest(after: before, limit: 2)).next
        try adapter.close()

        try putBack("copy")
        adapter = try self.adapter()
        let cursors = try [lost, #require(receipt.position), partial, scoped, later]
        for cursor in cursors { await refused(cursor, by: adapter) }
        // The same sequences and more, from another history.
        try await fill(adapter, 6...30, "new")
        for cursor in cursors { await refused(cursor, by: adapter) }
        let changes = try await adapter.allChanges(after: before).changes
        #expect(changes.count == 25)
        for change in changes {
            guard case .current(let document) = change else { continue }
            #expect(document["text"] == "new")
        }
        await #expect(throws: StorageError.self) { try await adapter.registerReader("r", at: lost) }
        try await adapter.registerReader("r", at: before)
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    private func refused(_ cursor: ChangeCursor, by adapter: SQLiteStorageAdapter) async {
        for scope in [ChangeScope.everything, .collections(["a"])] {
            let error = await storageError {
                _ = try await adapter.changes(ChangeRequest(after: cursor, scope: scope))
            }
            #expect(error?.code == .cursorExpired)
        }
    }

    @Test("An adapter whose file is replaced neither commits nor opens a connection")
    func replaced() async throws {
        let adapter = try adapter()
        try await fill(adapter, 1...3, "shared")
        try await adapter.backup(to: folder.file("Copy.sqlite"))
        try await fill(adapter, 4...4, "lost")
        for ending in ["", "-wal", "-shm"] {
            let former = folder.file("Former.sqlite\(ending)")
            try FileManager.default.moveItem(at: folder.file("Store.sqlite\(ending)"), to: former)
        }
        // Without a file, nothing can be mistaken for it.
        try await fill(adapter, 5...5, "lost")
        try FileManager.default.moveItem(at: folder.file("Copy.sqlite"), to: folder.file())
        var request = ReadRequest(.documents(["a/1"]))
        request.holdDuration = .seconds(1)
        let held = request
        let errors = [
            await storageError { try await fill(adapter, 6...6, "lost") },
            await storageError { try await adapter.unregisterReader("r") },
            await storageError { _ = try await adapter.read(held) },
            await storageError { try await adapter.backup(to: folder.file("Other.sqlite")) },
        ]
        #expect(errors.allSatisfy { $0?.code == .closed })
        try adapter.close()
        let next = try self.adapter()
        try await fill(next, 4...5, "new")
        #expect(try await next.document("a/4")?["text"] == "new")
        #expect(try await next.document("a/3")?["text"] == "shared")
        #expect(try await next.checkIntegrity() == .init(problems: [], documentCount: 5))
        try next.close()
    }

    @Test("Listeners start over on a restored file")
    func listeners() async throws {
        var adapter = try adapter()
        try await fill(adapter, 1...3, "shared")
        try adapter.close()
        try copyFiles(to: "copy")
        adapter = try self.adapter()
        try await fill(adapter, 3...5, "lost")
        // The state of a reader that is not always connected: a fold of states, and a cursor.
        var (changes, cursor) = try await adapter.allChanges()
        try adapter.close()
        try putBack("copy")
        adapter = try self.adapter()
        try await fill(adapter, 4...8, "new")
        let error = await storageError {
            (changes, cursor) = try await adapter.allChanges(after: cursor)
        }
        #expect(error?.code == .cursorExpired)
        (changes, cursor) = try await adapter.allChanges()
        let texts = changes.compactMap { change in
            if case .current(let document) = change { document["text"]?.stringValue } else { nil }
        }
        #expect(Set(texts) == ["shared", "new"] && texts.count == 8)
        try adapter.close()
    }

    @Test("A cursor at the end of the trimmed log is valid until the file is restored")
    func trimmed() async throws {
        var adapter = try adapter { $0.retention = .init(bytes: 0, tombstoneBytes: 0) }
        try await fill(adapter, 1...3, "shared")
        try adapter.close()
        try copyFiles(to: "copy")
        adapter = try self.adapter { $0.retention = .init(bytes: 0, tombstoneBytes: 0) }
        try await fill(adapter, 4...6, "lost")
        let cursor = try await position(adapter)
        try await fill(adapter, 7...7, "lost")
        try await adapter.compact()
        #expect(try await adapter.allChanges(after: cursor).changes.count == 1)
        try adapter.close()
        try putBack("copy")
        adapter = try self.adapter { $0.retention = .init(bytes: 0, tombstoneBytes: 0) }
        try await fill(adapter, 4...7, "new")
        try await adapter.compact()
        await refused(cursor, by: adapter)
        try adapter.close()
    }

    @Test("A cursor to a compacted change is valid until the file is restored")
    func compacted() async throws {
        // The log has the last four changes, and before them one of each document.
        let retention = SQLiteStorageAdapter.Configuration.Retention(bytes: 4 * 41)
        var adapter = try adapter { $0.retention = retention }
        try await fill(adapter, 1...3, "shared")
        let before = try await position(adapter)
        try await fill(adapter, 1...3, "again")
        #expect(try await adapter.allChanges(after: before).changes.count == 3)
        try adapter.close()
        try copyFiles(to: "copy")
        adapter = try self.adapter { $0.retention = retention }
        try await fill(adapter, 4...6, "lost")
        let lost = try await position(adapter)
        try await fill(adapter, 5...7, "lost again")
        #expect(try await adapter.allChanges(after: lost).changes.count == 3)
        try adapter.close()
        try putBack("copy")
        adapter = try self.adapter { $0.retention = retention }
        for text in ["new", "newer", "newest"] { try await fill(adapter, 4...7, text) }
        try await adapter.compact()
        await refused(lost, by: adapter)
        #expect(try await adapter.allChanges(after: before).changes.count == 7)
        // Their changes are gone, so only the period distinguishes the two cursors.
        let sequences = try await adapter.databasePool.read { database in
            try Int64.fetchAll(database, sql: "SELECT seq FROM changes")
        }
        for cursor in [before, lost] {
            let sequence = cursor.bytes[9..<17].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            #expect(!sequences.contains(sequence))
        }
        try adapter.close()
    }

    /// Removes what files lack that precede compaction, origins of changes, and marks.
    private static let totals = """
        ALTER TABLE changes DROP COLUMN total;
        ALTER TABLE state DROP COLUMN kept;
        ALTER TABLE state DROP COLUMN compacted;
        ALTER TABLE readers DROP COLUMN lifetime;
        """
    private static let origins =
        totals + """
            DROP INDEX removals;
            DROP TABLE clients;
            ALTER TABLE changes DROP COLUMN mutation;
            ALTER TABLE changes DROP COLUMN client;
            """
    private static let marks = origins + "ALTER TABLE changes DROP COLUMN mark"

    @Test(
        "A file of an earlier version can be opened, even read-only",
        arguments: [totals, origins, marks]
    )
    func earlierFormat(without: String) async throws {
        var adapter = try adapter()
        try await fill(adapter, 1...3, "old")
        try await Tampering.run(without, on: adapter)
        try adapter.close()
        let reader = try self.adapter { $0.isReadOnly = true }
        let old = try await position(reader)
        #expect(try await reader.allChanges(after: old).changes.isEmpty)
        #expect(try await reader.allChanges().changes.count == 3)
        var request = ChangeRequest(after: old)
        request.clients = ["phone"]
        #expect(try await reader.changes(request).acknowledged.isEmpty)
        adapter = try self.adapter()
        #expect(try await adapter.allChanges(after: old).changes.isEmpty)
        try await fill(adapter, 4...5, "new")
        #expect(try await adapter.allChanges(after: old).changes.count == 2)
        #expect(try await reader.allChanges(after: old).changes.count == 2)
        let new = try await position(reader)
        #expect(try await adapter.allChanges(after: new).changes.isEmpty)
        let origin = ChangeOrigin(client: "phone", mutation: 17)
        let write = try DocumentWrite.set(["n": 1], at: "a/own")
        try await adapter.apply(WriteBatch([write], origin: origin))
        try await adapter.apply(WriteBatch([.delete("a/1")]))
        for adapter in [adapter, reader] {
            var request = ChangeRequest(after: new)
            request.clients = ["phone", "tablet"]
            let page = try await adapter.changes(request)
            #expect(page.changes.count == 2)
            #expect(page.origins == ["a/own": origin])
            #expect(page.acknowledged == ["phone": 17])
        }
        try reader.close()
        try adapter.close()
    }

    @Test("A cursor without a mark is rejected")
    func withoutMark() async throws {
        let adapter = try adapter()
        try await fill(adapter, 1...3, "a")
        let cursor = try await position(adapter)
        // The cursor's form in an earlier version.
        var bytes = cursor.bytes
        bytes.removeLast(8)
        bytes[8] = 1
        await refused(ChangeCursor(bytes: bytes), by: adapter)
    }
}
#endif
