#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Registered readers of the change log")
struct LogReaderTests {
    let folder: TemporaryFolder
    private let clock = WallClock()

    init() throws { folder = try TemporaryFolder() }

    @Test("a read-only adapter answers a request with a reader")
    func readOnly() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/0", [:])
        let reading = try folder.adapter { $0.isReadOnly = true }
        var request = ChangeRequest()
        request.reader = ChangeReader("copy")
        #expect(try await reading.changes(request).changes.count == 1)
    }

    @Test("the number of stored readers is limited, and a further one is refused")
    func names() async throws {
        let adapter = try folder.adapter { $0.now = { [clock] in clock.now } }
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.databasePool.write { database in
            for number in 0..<1_000 {
                try database.execute(
                    sql: "INSERT INTO readers(name, seq, seen) VALUES (?, 1, ?)",
                    arguments: ["r\(number)", clock.now.microseconds]
                )
            }
        }
        try await adapter.registerReader("r7", at: start)
        let error = await storageError { try await adapter.registerReader("new", at: start) }
        #expect(error?.code == .tooLarge)
        #expect(error?.operation == "registerReader")
        var request = ChangeRequest()
        request.reader = ChangeReader("new")
        #expect(try await adapter.changes(request).changes.count == 1)
        let counts = try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM readers") ?? 0
        }
        #expect(counts == 1_000)
    }

    @Test("every reader that a request names is stored, by the bytes of its name")
    func requests() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/0", [:])
        let names = ["\u{e9}", "e\u{301}", String(repeating: "x", count: 300)]
        for name in names {
            var request = ChangeRequest()
            request.reader = ChangeReader(name)
            _ = try await adapter.changes(request)
        }
        let count = try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM readers") ?? 0
        }
        #expect(count == names.count)
    }
}
#endif
