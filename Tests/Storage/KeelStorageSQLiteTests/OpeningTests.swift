#if SQLite
import Foundation
import GRDB
import KeelCore
import KeelStorage
import KeelStorageSQLite
import Testing

@Suite("Opening a store")
struct OpeningTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ name: String = "Store.sqlite") async -> StorageError? {
        await storageError { _ = try folder.adapter(name) }
    }

    /// A connection that holds a lock for as long as the test wants.
    private func foreignConnection() throws -> DatabaseQueue {
        var settings = GRDB.Configuration()
        settings.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: folder.file().path, configuration: settings)
    }

    @Test("opening creates missing folders")
    func createsFolders() async throws {
        let adapter = try folder.adapter("deeper/and/deeper/Store.sqlite")
        try await adapter.set("notes/1", ["text": "kept"])
        #expect(try await adapter.document("notes/1") != nil)
    }

    /// Runs a body while the process can open no files.
    private static func withoutFreeFiles(_ body: () -> Void) throws {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        try #require(getrlimit(files, &limit) == 0)
        var none = limit
        none.rlim_cur = 0
        try #require(setrlimit(files, &none) == 0)
        body()
        try #require(setrlimit(files, &limit) == 0)
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    @Test("too many open files are not taken for a folder that cannot be written to")
    func openFiles() async {
        // In a process of its own, because other tests need files meanwhile.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            var failure: (any Error)?
            try OpeningTests.withoutFreeFiles {
                do { _ = try folder.adapter() } catch { failure = error }
            }
            #expect((failure as? StorageError)?.code == .unavailable, "\(failure as Any)")
        }
    }
    #endif

    @Test("a reopened store contains its documents")
    func reopens() async throws {
        let receipt = try await folder.adapter().set("notes/1", ["text": "kept"])
        let found = try await folder.adapter().document("notes/1")
        #expect(found?["text"] == "kept")
        #expect(found?.revision == receipt.revision)
    }

    @Test(
        "power durability makes commits wait for the disk",
        arguments: [
            (SQLiteStorageAdapter.Configuration.Durability.process, 1), (.power, 2),
        ]
    )
    func durability(
        _ durability: SQLiteStorageAdapter.Configuration.Durability,
        level: Int
    ) async throws {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.durability = durability
        let adapter = try SQLiteStorageAdapter(
            at: .file(folder.file().path),
            configuration: configuration
        )
        try await adapter.set("notes/1", ["text": "kept"])
        let synchronous = try await adapter.databasePool.writeWithoutTransaction { database in
            try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        #expect(synchronous == level)
        try adapter.close()
    }

    @Test("a file that is not a database is rejected")
    func refusesText() async throws {
        try Data(repeating: 65, count: 5_000).write(to: folder.file())
        #expect(await failure()?.code == .corrupted)
        #expect(await failure()?.operation == "open")
    }

    @Test("a database that is not a Keel store is rejected and left unchanged")
    func refusesForeignDatabase() async throws {
        let queue = try DatabaseQueue(path: folder.file().path)
        try await queue.write { try $0.execute(sql: "CREATE TABLE mine(a)") }
        try queue.close()
        let before = try Data(contentsOf: folder.file())
        let error = await failure()
        #expect(error?.code == .corrupted)
        #expect(error?.message.contains("choose another path") == true)
        #expect(try Data(contentsOf: folder.file()) == before)
        #expect(!FileManager.default.fileExists(atPath: folder.file().path + "-wal"))
    }

    @Test("a store of a later format is rejected")
    func refusesNewerFormat() async throws {
        try folder.adapter().close()
        let queue = try DatabaseQueue(path: folder.file().path)
        try await queue.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        try queue.close()
        let error = await failure()
        #expect(error?.code == .schemaTooNew)
        #expect(error?.message.contains("99") == true)
    }

    @Test("an empty file becomes a store")
    func takesEmptyFile() async throws {
        try Data().write(to: folder.file())
        try await folder.adapter().set("notes/1", ["a": 1])
    }

    @Test("a file truncated in its header is corrupted")
    func refusesCutHeader() async throws {
        let adapter = try folder.adapter()
        try adapter.close()
        try FileHandle(forWritingTo: folder.file()).truncate(atOffset: 60)
        #expect(await failure()?.code == .corrupted)
    }

    @Test("a lock held by another program is reported as busy after the timeout")
    func reportsLock() async throws {
        let adapter = try folder.adapter { $0.busyTimeout = .milliseconds(60) }
        let other = try foreignConnection()
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        defer { try? other.inDatabase { try $0.execute(sql: "ROLLBACK") } }
        let error = await storageError { try await adapter.set("notes/1", ["a": 1]) }
        #expect(error?.code == .busy)
        #expect(error?.isTransient == true)
        #expect(error?.effect == StorageError.Effect.none)
        #expect(try await adapter.document("notes/1") == nil)
    }

    @Test("a commit waits for a lock that is released in time")
    func waitsForLock() async throws {
        let adapter = try folder.adapter { $0.busyTimeout = .seconds(30) }
        let other = try foreignConnection()
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        async let receipt = adapter.set("notes/1", ["a": 1])
        // The writer always finds the file locked.
        for _ in 0..<5 { _ = try await adapter.document("notes/1") }
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        _ = try await receipt
        #expect(try await adapter.document("notes/1") != nil)
    }

    @Test("a store with a history opens while another program keeps it locked")
    func opensLocked() async throws {
        let first = try folder.adapter { $0.history = .seconds(60) }
        try await first.set("notes/1", ["a": 1])
        let other = try foreignConnection()
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let second = try folder.adapter { $0.busyTimeout = .zero }
        #expect(try await second.document("notes/1") != nil)
        #expect(second.capabilities.contains(.pointInTimeReads))
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        for adapter in [first, second] { try adapter.close() }
    }

    @Test("a read-only store rejects commits and changes nothing")
    func readsOnly() async throws {
        try await folder.adapter().set("notes/1", ["a": 1])
        let adapter = try folder.adapter { $0.isReadOnly = true }
        #expect(try await adapter.document("notes/1") != nil)
        #expect(
            await storageError { try await adapter.set("notes/2", ["a": 1]) }?.code == .readOnly
        )
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("notes", [.ascending("a")])])
        )
        #expect(try await adapter.ids(DocumentQuery("notes").where(.equal("a", 1))) == ["1"])
    }

    @Test("opening a missing store read-only does not create it")
    func readOnlyDoesNotCreate() async throws {
        let error = await storageError { _ = try folder.adapter { $0.isReadOnly = true } }
        #expect(error?.code == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.file().path))
    }

    @Test("a folder that cannot be created is reported as read-only")
    func reportsFolder() async throws {
        try Data().write(to: folder.file("plain"))
        #expect(await failure("plain/Store.sqlite")?.code == .readOnly)
    }

    @Test(
        "a read-only folder is reported as read-only",
        .enabled(if: getuid() != 0, "SKIPPED: permissions do not bind root")
    )
    func reportsReadOnlyFolder() async throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o555],
            ofItemAtPath: folder.url.path
        )
        #expect(await failure()?.code == .readOnly)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: folder.url.path
        )
    }

    @Test("a closed store reports a permanent error")
    func reportsClosed() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("notes/1", ["a": 1])
        try adapter.close()
        #expect(await storageError { _ = try await adapter.document("notes/1") }?.code == .closed)
        #expect(await storageError { try await adapter.set("notes/1", [:]) }?.code == .closed)
        #expect(!StorageError.Code.closed.isTransient)
    }

    @Test("invalid application support folder names are rejected")
    func checksNames() async {
        for name in ["", "..", "a/b", "a/\u{301}b"] {
            let error = await storageError {
                _ = try SQLiteStorageAdapter(at: .applicationSupport(name))
            }
            #expect(error?.code == .invalidArgument)
        }
    }
}
#endif
