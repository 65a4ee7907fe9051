#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Commits to PostgreSQL")
struct CommitTests {
    private func set(
        _ path: DocumentPath,
        _ text: String,
        if condition: WriteCondition = .none
    ) -> DocumentWrite {
        DocumentWrite(path, .set(DocumentBody(["text": .string(text)])), if: condition)
    }

    @Test("Two adapters see each other's commits, in one order of positions")
    func shares() async throws {
        try await PostgreSQLServer.withStore { one in
            let two = try await one.another()
            var positions: [ChangeCursor] = []
            for number in 0..<20 {
                let adapter = number.isMultiple(of: 2) ? one : two
                let path = DocumentPath("notes/\(number)")
                let results = try await adapter.commit([WriteBatch([set(path, "\(number)")])])
                positions.append(try #require(try results[0].get().position))
                let other = number.isMultiple(of: 2) ? two : one
                let answer = try await other.read(ReadRequest(.documents([path])))
                let found = try answer.documents
                #expect(found[0]?.revision == (try results[0].get().outcomes[0].revision))
            }
            #expect(positions == positions.sorted())
            await two.close()
        }
    }

    @Test("A store is created once, whoever comes first")
    func createsOnce() async throws {
        try await PostgreSQLServer.withStore { one in
            let adapters = try await withThrowingTaskGroup(of: PostgreSQLStorageAdapter.self) {
                group in
                for _ in 0..<4 { group.addTask { try await one.another() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(adapters.map(\.store.number)) == [one.store.number])
            #expect(Set(adapters.map(\.store.epoch)).count == 1)
            for adapter in adapters { await adapter.close() }
        }
    }

    @Test("The tables are created once, whoever comes first, also in a schema that is there")
    func createsTablesOnce() async throws {
        let server = try await PostgreSQLServer.shared.value
        let owner = try ConnectionThread.test(server.url())
        for hasSchema in [false, true] {
            let database = "empty_\(UInt32.random(in: 0 ... .max))"
            try await owner.run(["CREATE DATABASE \(database)"])
            let location = PostgreSQLStorageLocation.url(server.url(database: database))
            if hasSchema {
                let inside = try ConnectionThread.test(server.url(database: database))
                try await inside.run(["CREATE SCHEMA keel"])
                await inside.close()
            }
            let adapters = try await withThrowingTaskGroup(
                of: PostgreSQLStorageAdapter.self
            ) { group in
                for _ in 0..<4 {
                    group.addTask { try await PostgreSQLStorageAdapter(at: location) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(adapters.map(\.store.epoch)).count == 1)
            for adapter in adapters { await adapter.close() }
        }
        await owner.close()
    }

    // MARK: Retention

    @Test("A cursor before the retention expires, and later ones go on")
    func trims() async throws {
        try await PostgreSQLServer.withStore { adapter in
            var positions: [ChangeCursor] = []
            for number in 0..<3 {
                let results = try await adapter.commit([WriteBatch([set("notes/\(number)", "a")])])
                positions.append(try #require(try results[0].get().position))
            }
            var configuration = adapter.configuration
            configuration.retention = .init(age: .zero, tombstoneAge: .zero)
            let other = try await adapter.another(configuration)
            _ = try await other.commit([WriteBatch([set("notes/3", "a")])])
            await expectError(StorageError.self, .cursorExpired) {
                try await adapter.changes(ChangeRequest(after: positions[0]))
            }
            let now = try await other.commit([WriteBatch([set("notes/4", "a")])])
            let last = try #require(try now[0].get().position)
            #expect(try await adapter.changes(ChangeRequest(after: last)).isCaughtUp)
            await other.close()
        }
    }

    // MARK: Races

    @Test(
        "Eight writers race, and a reader sees each change once, in order",
        .timeLimit(.minutes(60))
    )
    func races() async throws {
        let writers = 8
        let changes = TestLength.count("KEEL_RACED_CHANGES", 20_000, thorough: 100_000)
        let each = changes / writers
        try await PostgreSQLServer.withStore { reader in
            let reached = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        // Clocks that differ by seconds must not matter.
                        var configuration = reader.configuration
                        configuration.now = {
                            Timestamp.now().advanced(
                                by: .milliseconds(Int.random(in: -2_000...2_000))
                            )
                        }
                        let adapter = try await PostgreSQLStorageAdapter(
                            at: reader.location,
                            configuration: configuration
                        )
                        var number = 0
                        while number < each {
                            let count = min(Int.random(in: 1...20), each - number)
                            let writes = (number..<number + count).map { number in
                                set(DocumentPath("w\(writer)/\(number)"), "\(number)")
                            }
                            // A refused batch among them must leave no trace.
                            let refused = set("w\(writer)/refused", "", if: .exists)
                            let results = try await adapter.commit([
                                WriteBatch([refused]), WriteBatch(writes),
                            ])
                            _ = try results[1].get()
                            number += count
                        }
                        await adapter.close()
                        return number
                    }
                }
                group.addTask { try await follow(reader, writers: writers, each: each) }
                return try await group.reduce(0, +)
            }
            #expect(reached == 2 * writers * each)
        }
    }

    /// Reads the log until it has all changes, and checks that none is missing, comes twice or out of order.
    private func follow(
        _ adapter: PostgreSQLStorageAdapter,
        writers: Int,
        each: Int
    ) async throws -> Int {
        var next = Array(repeating: 0, count: writers)
        var cursor: ChangeCursor?
        var count = 0
        while count < writers * each {
            let page = try await adapter.changes(
                ChangeRequest(after: cursor, waitTimeout: .seconds(30))
            )
            if let cursor { #expect(cursor <= page.next) }
            // The first pages may be a copy of what was there, whose order is another one.
            for change in page.changes {
                let name = change.path.collection.name
                let writer = try #require(Int(name.dropFirst()))
                #expect(change.path.id == "\(next[writer])")
                next[writer] += 1
                count += 1
            }
            cursor = page.next
        }
        return count
    }

    // MARK: Failures

    @Test("A lost connection before the commit has no effect, and the next commit connects again")
    func survivesTermination() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let path = DocumentPath("notes/1")
            _ = try await adapter.commit([WriteBatch([set(path, "a")])])
            let server = try await PostgreSQLServer.shared.value
            let other = try ConnectionThread.test(server.url(), answerLimit: .seconds(10))
            let pid = try await adapter.pool.writer.run { connection in
                try connection.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0)
                    ?? 0
            }
            _ = try await other.run { connection in
                try connection.run(
                    DatabaseStatement("SELECT pg_terminate_backend($1::bigint::integer, 5000)") {
                        $0.add(pid)
                    }
                ).count
            }
            let results = try await adapter.commit([WriteBatch([set(path, "b")])])
            #expect(throws: Never.self) { try results[0].get() }
            await other.close()
        }
    }

    @Test(
        "A program that stops while it holds the tail loses it after five seconds",
        .timeLimit(.minutes(5))
    )
    func endsStoppedPrograms() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let stopped = try await adapter.another()
            // The first half of a commit, after which nothing follows.
            let count = try await stopped.pool.writer.run { [store = stopped.store] connection in
                let tail = DatabaseStatement(
                    "SELECT 1 FROM keel.stores WHERE store = $1 FOR UPDATE"
                ) { $0.add(store.number) }
                return try connection.run(CommitGroup.beginning(on: connection) + [tail]).count
            }
            #expect(count > 0)
            _ = try await adapter.commit([WriteBatch([set("notes/1", "a")])])[0].get()
            // When it goes on, it has lost its transaction, and commits as before.
            _ = try await stopped.commit([WriteBatch([set("notes/1", "b")])])[0].get()
            let document = try await StorageClient(adapter).getDocument("notes/1")
            #expect(document["text"] == "b")
            await stopped.close()
        }
    }

    @Test("The outcome of a commit whose answer was lost is found out", arguments: [true, false])
    func findsOutcomes(isCommitted: Bool) async throws {
        try await PostgreSQLServer.withStore { adapter in
            _ = try await adapter.commit([WriteBatch([set("notes/1", "a")])])
            let last = adapter.groups.load(ordering: .relaxed)
            let group = isCommitted ? last : last + 1
            let result = await Result {
                try await adapter.pool.writer.run { [store = adapter.store] connection in
                    let lost = DatabaseFailure.lost("the connection was cut")
                    return try GroupOutcome(group, of: store, on: connection).find(after: lost)
                }
            }
            if isCommitted {
                let isUnconfirmed = try result.get()
                #expect(!isUnconfirmed)
            } else {
                let error = #expect(throws: StorageError.self) { try result.get() }
                #expect(error?.code == .unavailable)
                #expect(error?.effect == StorageError.Effect.none)
            }
        }
    }

    @Test("The outcome of a commit is unknown if the server has another store under its number")
    func cannotFindOutcomes() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let settings = try ConnectionSettings(adapter.location, allowsUnverifiedServers: false)
            // A connection with settings of its own does not look for the store, as one through a pooler.
            let store = OpenStore(number: adapter.store.number, name: "elsewhere", epoch: 0)
            let result = await Result {
                try await ConnectionThread.during("test", settings, answerLimit: .seconds(30)) {
                    let lost = DatabaseFailure.lost("the connection was cut")
                    return try GroupOutcome(1, of: store, on: $0).find(after: lost)
                }
            }
            let error = #expect(throws: StorageError.self) { try result.get() }
            #expect(error?.code == .unavailable)
            #expect(error?.effect == .unknown)
        }
    }

    @Test("A group that fails as a whole is tried again batch by batch")
    func separatesFailures() async throws {
        let server = try await PostgreSQLServer.shared.value
        // A database of its own: the statement locks the table, for which it would wait for all other tests.
        let database = "refusing_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        let url = server.url(database: database)
        try await PostgreSQLServer.withStore(at: url) { adapter in
            let settings = try ConnectionSettings(.url(url), allowsUnverifiedServers: false)
            // Only the database can refuse this one, so the whole transaction fails.
            _ = try await ConnectionThread.during("test", settings, answerLimit: .seconds(30)) {
                try $0.run(
                    DatabaseStatement(
                        "ALTER TABLE keel.documents ADD CONSTRAINT refused CHECK (id <> 'bad')"
                    )
                ).count
            }
            let results = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
                for id in ["good-1", "bad", "good-2", "good-3"] {
                    group.addTask {
                        let write = set(DocumentPath("notes/\(id)"), id)
                        let results = try? await adapter.commit([WriteBatch([write])])
                        return (id, (try? results?[0].get()) != nil)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(results == ["good-1": true, "bad": false, "good-2": true, "good-3": true])
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
#endif
