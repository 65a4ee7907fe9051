import Foundation
import KeelConformance
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Stores under a wrong clock")
struct WrongClockTests {
    private static let history = Duration.seconds(4 * 3600)

    @Test("A wrong clock only affects document times in memory", .timeLimit(.minutes(5)))
    func inMemory() async throws {
        let walk = ClockWalk()
        let clock = TestClock()
        let adapter = InMemoryStorageAdapter(
            clock: clock,
            history: Self.history,
            now: { [wall = walk.wall] in wall.now }
        )
        try await walk.run(on: adapter, history: Self.history) { await clock.advance(by: $0) }
    }

    #if SQLite
    @Test(
        "A wrong clock only affects document times in a file, with or without a history",
        arguments: [history, nil]
    )
    func inFile(_ history: Duration?) async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let walk = ClockWalk()
        let opened = {
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.history = history
            configuration.now = { [wall = walk.wall] in wall.now }
            let place = folder.appendingPathComponent("s.sqlite").path
            return try SQLiteStorageAdapter(at: .file(place), configuration: configuration)
        }
        var adapter = try opened()
        try await walk.run(
            on: adapter,
            history: history,
            reopen: { _ in
                try adapter.close()
                adapter = try opened()
                return adapter
            }
        )
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }
    #endif
}
