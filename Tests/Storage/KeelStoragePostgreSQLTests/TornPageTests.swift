#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Pages of changes from a primary and a standby", .timeLimit(.minutes(60)))
struct TornPageTests {
    private struct Servers: Sendable {
        let primary: PostgreSQLServer
        let standby: PostgreSQLServer
    }

    private static let servers = Task {
        let primary = try await PostgreSQLServer()
        // On a busy machine, the standby may be further behind than the 30 seconds after which it would cancel a read
        // that a clean-up of the primary concerns.
        let standby = try await PostgreSQLServer(
            standbyOf: primary,
            options: ["max_standby_streaming_delay=-1"]
        )
        return Servers(primary: primary, standby: standby)
    }

    /// Runs a closure with two adapters of a store on the primary, and a reader of it on the standby.
    private func withReaders(
        _ body: (PostgreSQLStorageAdapter, PostgreSQLStorageAdapter, StandbyReader) async throws ->
            Void
    ) async throws {
        let servers = try await Self.servers.value
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = UUID().uuidString
        configuration.history = .seconds(3600)
        let location = PostgreSQLStorageLocation.url(servers.primary.url())
        let writer = try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        let reader = try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        try await FailoverTests().catchUp(servers.standby, with: servers.primary)
        let standby = try StandbyReader(servers.standby, of: writer)
        try await body(writer, reader, standby)
        for adapter in [writer, reader] { await adapter.close() }
        await standby.close()
    }

    // MARK: Strangers

    /// Folds pages into the numbers of two documents, which a batch changes together.
    private struct Follower {
        let name: String
        let read: (ChangeRequest) async throws -> ChangePage
        var request: ChangeRequest
        var numbers: [String: Int64] = [:]

        /// Reads a page; a consistent state has both changes of a batch or neither.
        mutating func readPage() async throws {
            let page = try await read(request)
            request.after = page.next
            for change in page.changes {
                guard case .current(let document) = change else { continue }
                numbers[document.id] = document["n"]?.integerValue
            }
            guard page.isCaughtUp else { return }
            let isWhole = numbers["a"] == numbers["b"] || numbers == ["a": 1]
            #expect(isWhole, "\(name) shows \(numbers)")
        }
    }

    private func batch(_ ids: String..., n: Int64) -> WriteBatch {
        WriteBatch(
            ids.map { id in
                DocumentWrite(DocumentPath("pair/\(id)"), .set(DocumentBody(["n": .integer(n)])))
            }
        )
    }

    private func run(_ statements: String..., on thread: ConnectionThread) async throws {
        _ = try await thread.run { connection in
            // A stranger sets no time limit for its transactions.
            try connection.run(DatabaseStatement("SET idle_in_transaction_session_timeout = 0"))
            return try connection.run(statements.map { DatabaseStatement($0) }).count
        }
    }

    @Test(
        "A page has both changes of a batch or neither, while older and younger transactions are open",
        arguments: [1, 2, 500]
    )
    func isWhole(limit: Int) async throws {
        let url = try await Self.servers.value.primary.url()
        let strangers = try (0..<2).map { _ in
            try ConnectionThread.test(url, answerLimit: .seconds(60))
        }
        try await withReaders { writer, reader, standby in
            let start = try await reader.changes(ChangeRequest()).next
            var followers: [Follower] = []
            for after in [start, nil] {
                let request = ChangeRequest(after: after, limit: limit)
                let kind = after == nil ? "copy" : "log"
                followers += [
                    Follower(
                        name: "the \(kind) of the primary",
                        read: { try await reader.changes($0) },
                        request: request
                    ),
                    Follower(
                        name: "the \(kind) of the standby",
                        read: { try await standby.read($0).page },
                        request: request
                    ),
                ]
            }
            // The first stranger has a transaction id before both changes, so it holds every horizon back.
            try await run("BEGIN", "SELECT txid_current()", on: strangers[0])
            _ = try await writer.commit([batch("a", n: 1)])[0].get()
            let last: Int64 = 6
            for n in 2...last {
                if n == 3 { try await run("BEGIN", "SELECT txid_current()", on: strangers[1]) }
                // The horizon moves on to the second one.
                if n == 5 { try await run("ROLLBACK", on: strangers[0]) }
                for place in followers.indices { try await followers[place].readPage() }
                _ = try await writer.commit([batch("a", "b", n: n)])[0].get()
                for place in followers.indices { try await followers[place].readPage() }
            }
            // The last batch comes while a transaction is open.
            for place in followers.indices {
                while followers[place].numbers != ["a": last, "b": last] {
                    try await followers[place].readPage()
                }
            }
            try await run("ROLLBACK", on: strangers[1])
        }
        for stranger in strangers { await stranger.close() }
    }

    // MARK: Races

    @Test(
        "Eight writers move amounts, and each consistent state has the same sum, also on a standby"
    )
    func keepsTheSum() async throws {
        let race = AccountRace(
            changes: TestLength.count("KEEL_RACED_CHANGES", 20_000, thorough: 100_000)
        )
        try await withReaders { writer, reader, standby in
            try await race.begin(in: writer)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await race.write(beside: writer) }
                group.addTask { try await race.follow(reader) }
                group.addTask {
                    var documents: ReadResult?
                    try await race.follow { request in
                        let read = try await standby.read(request, with: AccountRace.paths)
                        documents = read.documents
                        // A standby announces nothing.
                        if read.page.changes.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
                        return read.page
                    } check: { page, balances in
                        let read = try #require(documents)
                        #expect(read.position == page.next)
                        #expect(AccountRace.balances(read) == balances)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
#endif
