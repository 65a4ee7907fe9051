#if PostgreSQL
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelTestSupport
import Synchronization
import Testing

@Suite("Connections to PostgreSQL that are terminated at random", .timeLimit(.minutes(30)))
struct TerminationTests {
    private static let patience = RetryPolicy(
        attempts: 10_000,
        baseDelay: .milliseconds(1),
        maximumDelay: .milliseconds(20)
    )

    /// Ends the readers of the test.
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// Reads a number again and again, and checks that it never goes back.
    private func watch(until end: End, _ number: () async throws -> Int64) async throws {
        var last: Int64 = 0
        while !end.isReached.load(ordering: .acquiring) {
            let next = try await number()
            #expect(last <= next)
            last = max(last, next)
        }
    }

    @Test("Commits take effect once, reads never go back and a listener misses nothing")
    func goesOn() async throws {
        let server = try await PostgreSQLServer.shared.value
        // All connections to a database of its own are the adapter's: writer, readers and watch.
        let database = "terminated_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        let url = server.url(database: database)
        let adapter = try await PostgreSQLStorageAdapter(at: .url(url))
        let retrying = adapter.retrying(Self.patience)
        let storage = StorageClient(retrying)
        let accounting = CutConnectionTests()
        _ = try await retrying.commit([accounting.batch("first")])[0].get()
        let start = try await retrying.changes(ChangeRequest()).next
        let (writers, each) = (8, TestLength.count(40, thorough: 1_000))
        let (progress, telling) = AsyncStream.makeStream(of: Void.self)
        let end = End()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for number in 0..<each {
                        let batch = accounting.batch("\(writer)-\(number)")
                        _ = try await retrying.commit([batch])[0].get()
                        telling.yield()
                    }
                }
            }
            group.addTask {
                var seen: [String: Int] = [:]
                var request = ChangeRequest(after: start, waitTimeout: .seconds(10))
                while seen.count < writers * each {
                    let page = try await retrying.changes(request)
                    for change in page.changes where change.path.collection == "notes" {
                        seen[change.path.id, default: 0] += 1
                    }
                    request.after = page.next
                }
                end.isReached.store(true, ordering: .releasing)
                #expect(seen.values.allSatisfy { $0 == 1 })
            }
            group.addTask {
                try await watch(until: end) {
                    try await storage.getDocument("counters/all")["n"]?.integerValue ?? 0
                }
            }
            group.addTask {
                try await watch(until: end) {
                    Int64(try await storage.count(DocumentQuery("notes")))
                }
            }
            group.addTask {
                var (commits, ended) = (0, 0)
                for await _ in progress {
                    commits += 1
                    guard commits < writers * each else { break }
                    guard commits.isMultiple(of: 4) else { continue }
                    ended += Int(
                        try await server.run(
                            """
                            SELECT count(pg_terminate_backend(pid)) FROM (
                                SELECT pid FROM pg_stat_activity WHERE datname = '\(database)'
                                ORDER BY random() LIMIT 1
                            ) victim
                            """
                        ) ?? 0
                    )
                }
                print("\(ended) backends ended during \(commits) commits")
                #expect(ended > 0)
            }
            try await group.waitForAll()
        }
        let counts = try await accounting.counts(after: start, in: retrying)
        #expect(counts.count == writers * each)
        #expect(counts.values.allSatisfy { $0 == 1 })
        let total = try await storage.getDocument("counters/all")["n"]
        #expect(total == .integer(Int64(writers * each + 1)))
        await adapter.close()
    }
}
#endif
