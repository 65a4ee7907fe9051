#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelSync
import KeelTestSupport
import Testing

/// Kills a process that fills and empties an outbox, at random moments, and checks the writes that its server has
/// received.
@Suite("Crash safety of an outbox", .serialized)
struct OutboxCrashTests {
    /// The number of kills, which `KEEL_KILLS` overrides.
    private static let killCount = TestLength.count("KEEL_KILLS", 20, thorough: 60)

    @Test("Enqueued writes are applied once and in order despite kill -9 at random times")
    func kills() async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appending(path: "store.sqlite")
        let server = folder.appending(path: "server.txt")

        var acknowledged: [Int64] = []
        var first: Int64 = 1
        for trial in 0..<Self.killCount {
            let life: [Int64]? = try await CrashTrial.run(
                "KeelOutboxCrashWriter",
                [store.path, server.path, String(first)],
                // Some lives are long enough to outlast the leases of the previous life.
                killedAfter: .microseconds(
                    Int.random(in: 200...(trial % 3 == 0 ? 150_000 : 30_000))
                ),
                waitsForLife: trial % 5 != 0
            )
            let numbers = try #require(life, "the writer ended by itself")
            acknowledged += numbers
            // The write after the last known one may have been enqueued without an acknowledgement.
            first = (numbers.last ?? first - 1) + 2
        }
        #expect(acknowledged.count > Self.killCount / 4, "only \(acknowledged.count) writes")
        let program = try CrashTrial.program("KeelOutboxCrashWriter")
        let run = try await ProgramRun(program, [store.path, server.path, "drain"])
        #expect(run.exitCode == 0, "\(run.errors)")

        let lines = try String(contentsOf: server, encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
        let applied = lines.compactMap { $0.count == 3 ? Int64($0[2]) : nil }
        #expect(applied.count == lines.count, "a line of the server is not whole")
        #expect(Set(applied).count == applied.count, "a write was applied twice")
        #expect(Set(applied).isSuperset(of: acknowledged), "a write was lost")
        for key in 0..<3 {
            let numbers = lines.filter { $0[1] == "key\(key)" }.compactMap { Int64($0[2]) }
            #expect(numbers == numbers.sorted(), "key\(key) is out of order")
        }
        // The change committed with each write exists, and no change exists without its write.
        let storage = StorageClient(try SQLiteStorageAdapter(at: .file(store.path)))
        let local = try await storage.queryDocuments(DocumentQuery("numbers"))
        #expect(Set(local.compactMap { Int64($0.id) }) == Set(applied))
        print("\(Self.killCount) kills, \(applied.count) writes, each applied once")
    }
}
#endif
