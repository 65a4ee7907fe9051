#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelToolsTestSupport
import Synchronization
import Testing

/// Three servers of one database behind a proxy, while the primary of the database is lost and its synchronous standby
/// promoted.
@Suite(
    "A promotion under several keel serve",
    .serialized,
    .timeLimit(.minutes(30)),
    .enabled(if: NginxProxy.program != nil, NginxProxy.absence)
)
struct FleetPromotionTests {
    /// The number of commits: a run for a change is brief, and the nightly run sets `KEEL_THOROUGH`.
    private static let commits =
        (ProcessInfo.processInfo.environment["KEEL_THOROUGH"] ?? "").isEmpty ? 400 : 8_000

    private struct Fleet {
        let primary: PostgreSQLServer
        let standby: PostgreSQLServer
        let servers: [ServedProcess]
        let proxy: NginxProxy
        let transport = AsyncHTTPClientTransport()

        init() async throws {
            primary = try PostgreSQLServer(options: ["synchronous_standby_names=*"])
            standby = try PostgreSQLServer(
                standbyOf: primary,
                options: ["synchronous_standby_names="]
            )
            let hosts = "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)"
            let storage = "postgres://keel@\(hosts)/postgres"
            servers = try (0..<3).map { _ in try ServedProcess(storage: storage, port: 0) }
            proxy = try await NginxProxy(before: servers.map(\.port))
        }

        func stop() async {
            for server in servers { server.kill() }
            proxy.stop()
            await transport.shutdown()
            for database in [primary, standby] { database.stop() }
        }
    }

    /// What a client knows of a transaction.
    private struct Outcomes {
        var committed = 0
        var aborted = 0
    }

    private final class Flag: Sendable {
        let isRaised = Atomic(false)
    }

    /// Adds one to a number in transactions, until some have been made after the flag was raised.
    private func increment(
        _ path: String,
        with client: ServerFleetTests.Client,
        until flag: Flag
    ) async throws -> Outcomes {
        var outcomes = Outcomes()
        var left = 20
        while left > 0 {
            if flag.isRaised.load(ordering: .acquiring) { left -= 1 }
            let begun = try await client.send(.post, ":beginTransaction", "{}")
            let token = try #require(begun.answer.transaction)
            guard let number = try await client.number(path, in: token) else {
                outcomes.aborted += 1
                continue
            }
            let body = ServerFleetTests.Client.commit(of: number + 1, to: path, in: token)
            while true {
                if let reply = try await client.attempt(.post, ":commit", body) {
                    #expect([200, 409].contains(reply.status))
                    if reply.status == 200 {
                        outcomes.committed += 1
                    } else {
                        outcomes.aborted += 1
                    }
                    break
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        return outcomes
    }

    @Test("Nothing is lost or doubled, for listeners, readers and transactions by token")
    func promotes() async throws {
        let fleet = try await Fleet()
        do { try await promote(in: fleet) } catch {
            await fleet.stop()
            throw error
        }
        await fleet.stop()
    }

    private func promote(in fleet: Fleet) async throws {
        let (primary, standby) = (fleet.primary, fleet.standby)
        let client = ServerFleetTests.Client(port: fleet.proxy.port, transport: fleet.transport)
        let address = try #require(URL(string: "http://127.0.0.1:\(fleet.proxy.port)"))
        let adapter = FirestoreStorageAdapter(.patient(address), transport: fleet.transport)
            .retrying(.patient)
        let storage = StorageClient(adapter)
        let start = try await adapter.changes(ChangeRequest()).next
        let (writers, each) = (4, Self.commits / 4)
        let promotion = Flag()
        let (progress, telling) = AsyncStream.makeStream(of: Void.self)
        async let transactions = increment("counters/all", with: client, until: promotion)
        let seen = try await withThrowingTaskGroup(of: [String].self) { group in
            group.addTask {
                try await ServerFleetTests.loaded(writers * each, in: adapter, after: start)
            }
            for writer in 0..<writers {
                group.addTask {
                    for number in 0..<each {
                        try await storage.createDocument(
                            DocumentPath("load/\(writer)-\(number)"),
                            ["n": .integer(Int64(number))]
                        )
                        telling.yield()
                    }
                    return []
                }
            }
            group.addTask {
                var count = 0
                for await _ in progress {
                    count += 1
                    guard count == writers * each / 2 else { continue }
                    let begun = try await client.send(.post, ":beginTransaction", "{}")
                    let token = try #require(begun.answer.transaction)
                    let body = ServerFleetTests.Client.commit(of: 1, to: "last/1", in: token)
                    #expect(try await client.send(.post, ":commit", body).status == 200)
                    primary.stop()
                    try standby.run("SELECT pg_promote()")
                    promotion.isRaised.store(true, ordering: .releasing)
                    // A client that has lost the reply repeats its commit, and must not be told to begin again.
                    let repeated = try await client.send(.post, ":commit", body)
                    #expect(repeated.status == 200)
                    break
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for writer in 0..<writers {
            let own = seen.filter { $0.hasPrefix("\(writer)-") }
            #expect(own == (0..<each).map { "\(writer)-\($0)" })
        }
        #expect(try await storage.count(DocumentQuery("load")) == writers * each)

        let outcomes = try await transactions
        let total = try #require(try await client.number("counters/all"))
        print("\(outcomes) of transactions whose number is \(total)")
        #expect(total == outcomes.committed)
        #expect(outcomes.committed > 0)
    }
}
#endif
