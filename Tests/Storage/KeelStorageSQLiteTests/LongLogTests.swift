#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("A long write-ahead log", .timeLimit(.minutes(10)))
struct LongLogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var logSize: Int {
        get throws {
            let log = folder.file("Store.sqlite-wal")
            return try log.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
    }

    /// Returns an adapter whose next commit empties the log.
    private func adapter(_ clock: any Clock<Duration>) async throws -> SQLiteStorageAdapter {
        let adapter = try folder.adapter { configuration in
            configuration.clock = clock
            configuration.longestLog = 1
        }
        for number in 1..<64 { try await adapter.set("a/\(number)", [:]) }
        return adapter
    }

    @Test("A commit empties it when the reads that use it have ended")
    func empties() async throws {
        let clock = TestClock()
        let adapter = try await adapter(clock)
        // It prevents SQLite from beginning the log anew, as reads that overlap do.
        let snapshot = try adapter.databasePool.makeSnapshot()
        async let commit = adapter.set("a/last", [:])
        await clock.waitForSleepers()
        #expect(try logSize > 0)
        try snapshot.close()
        await clock.run()
        _ = try await commit
        #expect(try logSize == 0)
        #expect(try await adapter.ids(DocumentQuery("a")).count == 64)
    }

    @Test("A commit that is canceled meanwhile succeeds, and does not put the next attempt off")
    func canceled() async throws {
        let clock = TestClock()
        let adapter = try await adapter(clock)
        let snapshot = try adapter.databasePool.makeSnapshot()
        let commit = Task { try await adapter.set("a/last", [:]) }
        await clock.waitForSleepers()
        commit.cancel()
        _ = try await commit.value
        try snapshot.close()
        for number in 0..<64 { try await adapter.set("b/\(number)", [:]) }
        #expect(try logSize == 0)
    }

    @Test("A commit waits at most a second for a long read, and succeeds")
    func leavesLongReads() async throws {
        let clock = ImmediateClock()
        let adapter = try await adapter(clock)
        let snapshot = try adapter.databasePool.makeSnapshot()
        try await adapter.set("a/last", [:])
        #expect(clock.elapsed >= .seconds(1) && clock.elapsed < .seconds(2))
        #expect(try logSize > 0)
        try snapshot.close()
    }
}
#endif
