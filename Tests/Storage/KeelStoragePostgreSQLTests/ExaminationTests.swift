#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Examination of PostgreSQL databases", .timeLimit(.minutes(10)))
struct ExaminationTests {
    private typealias Finding = PostgreSQLStorageAdapter.Finding

    private func batch(_ ids: some Sequence<Int>) -> WriteBatch {
        WriteBatch(
            ids.map {
                DocumentWrite(DocumentPath("notes/\($0)"), .set(DocumentBody(["n": .integer(1)])))
            }
        )
    }

    private func examine(
        _ server: PostgreSQLServer,
        role: String = PostgreSQLServer.role,
        database: String = "postgres",
        _ configuration: PostgreSQLStorageAdapter.Configuration = .init()
    ) async -> [Finding] {
        await PostgreSQLStorageAdapter.examine(
            .url(server.url(role, database: database)),
            configuration: configuration
        )
    }

    private func only(_ subject: String, _ findings: [Finding]) throws -> Finding {
        let found = findings.filter { $0.subject == subject }
        #expect(found.count == 1, "\(findings.map(\.subject))")
        return try #require(found.first, "\(subject): \(findings)")
    }

    @Test("A sound server and store are good, also without a store of that name")
    func sound() async throws {
        let server = try await PostgreSQLServer(options: ["fsync=on"])
        defer { server.stop() }
        let empty = await examine(server)
        #expect(try only("store default", empty).state == .problem)
        #expect(try only("store default", empty).advice?.contains("migrate") == true)
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("notes", [.ascending("n")])])
        )
        _ = try await adapter.commit([batch(0..<10)])[0].get()
        let findings = await examine(server)
        #expect(findings.filter { $0.state != .good } == [])
        #expect(findings.allSatisfy { $0.advice == nil })
        let host = try only("host 127.0.0.1:\(server.port)", findings)
        #expect(host.detail.contains("primary, timeline 1, not encrypted"))
        #expect(try only("role", findings).detail == "keel, a superuser")
        #expect(try only("store default", findings).detail.contains("one of 1 stores"))
        #expect(try only("indexes", findings).detail == "1 declared, all complete")
        #expect(try only("change log", findings).detail.hasPrefix("10 changes of "))
        #expect(try only("transactions", findings).detail == "none is open")
        var other = PostgreSQLStorageAdapter.Configuration()
        other.store = "other"
        let others = await examine(server, other)
        let missing = try only("store other", others)
        #expect(missing.detail == "The database has 1 stores, but none of this name.")
        await adapter.close()
    }

    @Test("Settings that lose data or fail commits are named")
    func settings() async throws {
        let server = try await PostgreSQLServer(options: [
            "fsync=off", "autovacuum=off", "statement_timeout=7s", "max_connections=12",
            "wal_level=minimal", "max_wal_senders=0",
        ])
        defer { server.stop() }
        let findings = await examine(server)
        #expect(try only("durability", findings).state == .problem)
        #expect(try only("autovacuum", findings).state == .problem)
        #expect(try only("time limits", findings).detail.hasPrefix("statement_timeout is 7 s"))
        #expect(try only("connections", findings).state == .warning)
        #expect(try only("replication", findings).state == .warning)
        let local = try await PostgreSQLServer(options: ["fsync=on", "synchronous_commit=off"])
        defer { local.stop() }
        let locals = await examine(local)
        #expect(try only("durability", locals).state == .warning)
    }

    @Test("The connections of an adapter include those of held states, unless there is a history")
    func connections() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        await (try PostgreSQLStorageAdapter(at: .url(server.url()))).close()
        let without = try only("connections", await examine(server)).detail
        #expect(without.hasSuffix("uses up to 18, 8 of them for held states"))
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            $0.history = .seconds(3_600)
        }
        await adapter.close()
        let with = try only("connections", await examine(server)).detail
        #expect(with.hasSuffix("uses up to 10"))
    }

    @Test("A missing synchronous standby is a problem, because every commit waits")
    func synchronous() async throws {
        let server = try await PostgreSQLServer(options: ["synchronous_standby_names=nobody"])
        defer { server.stop() }
        let findings = await examine(server)
        let finding = try only("replication", findings)
        #expect(finding.state == .problem)
        #expect(finding.detail.contains("every commit waits"))
    }

    @Test("Hosts are told apart: primary, standby, and one that does not answer")
    func hosts() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let dead = try await PostgreSQLServer.freePort()
        // The standby accepts connections before its own to the primary is complete.
        let streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        while try await primary.run(streaming) != 1 {}
        func url(_ ports: [Int]) -> PostgreSQLStorageLocation {
            .url(
                "postgres://keel@\(ports.map { "127.0.0.1:\($0)" }.joined(separator: ","))/postgres"
            )
        }
        let all = await PostgreSQLStorageAdapter.examine(url([dead, standby.port, primary.port]))
        #expect(try only("host 127.0.0.1:\(dead)", all).state == .warning)
        #expect(
            try only("host 127.0.0.1:\(standby.port)", all).detail.contains("standby, caught up")
        )
        #expect(try only("host 127.0.0.1:\(primary.port)", all).detail.contains("primary"))
        #expect(try only("standby walreceiver", all).detail.hasPrefix("streaming"))
        let lonely = await PostgreSQLStorageAdapter.examine(url([standby.port]))
        #expect(try only("primary", lonely).detail.contains("No host accepts writes"))
        #expect(!lonely.contains { $0.subject.hasPrefix("store") })
        try await standby.run("SELECT pg_promote()")
        let split = await PostgreSQLStorageAdapter.examine(url([primary.port, standby.port]))
        #expect(
            try only("primary", split).detail == "2 hosts accept writes, on the timelines 1, 2."
        )
        let gone = await PostgreSQLStorageAdapter.examine(url([dead]))
        #expect(gone.map(\.state) == [.problem])
    }

    @Test("The error for a role without rights names those that it lacks")
    func rights() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        try await server.run("CREATE ROLE modest LOGIN")
        let problems = await examine(server, role: "modest").filter { $0.state == .problem }
        let before = try only("role", problems)
        #expect(before.detail.contains("may not create one"))
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        await adapter.close()
        let none = await examine(server, role: "modest")
        #expect(none.contains { $0.detail == "“modest” may not read and write the schema keel." })
        // What the store’s parts lack is the same right.
        #expect(!none.contains { $0.detail.hasPrefix("It cannot be examined") })
        let owner = try ConnectionThread.test(server.url())
        try await owner.run([
            "GRANT USAGE ON SCHEMA keel TO modest",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA keel TO modest",
            "REVOKE DELETE ON keel.changes, keel.groups FROM modest",
        ])
        let some = await examine(server, role: "modest")
        #expect(
            some.contains {
                $0.detail == "“modest” may not read and write the tables changes, groups."
            }
        )
        #expect(some.contains { $0.advice == "GRANT pg_monitor TO modest;" })
        try await owner.run([
            "GRANT DELETE ON keel.changes, keel.groups TO modest", "GRANT pg_monitor TO modest",
        ])
        let all = await examine(server, role: "modest")
        #expect(try only("role", all) == .good("role", "modest"))
        await owner.close()
    }

    @Test("Open transactions, late readers, unfinished indexes and dead rows are found")
    func findings() async throws {
        let server = try await PostgreSQLServer(options: [
            "max_prepared_transactions=2", "autovacuum=off",
        ])
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            $0.retention = .init(age: .zero)
        }
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("notes", [.ascending("n")])])
        )
        _ = try await adapter.commit([batch(0..<1)])[0].get()
        let start = try await adapter.changes(ChangeRequest()).next
        try await adapter.registerReader("sync", at: start)
        _ = try await adapter.commit([batch(1..<3)])[0].get()
        let owner = try ConnectionThread.test(server.url())
        try await owner.run([
            "UPDATE keel.indexes SET built = 1",
            """
            INSERT INTO keel.documents SELECT 99, n, 1, convert_to(n::text, 'UTF8'), 1, 1, 1, ''
            FROM generate_series(1, 15000) n
            """,
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'keel.removals'::regclass",
        ])
        try await owner.run(["DELETE FROM keel.documents WHERE store = 99"])
        try await owner.run(["BEGIN", "SELECT txid_current()", "PREPARE TRANSACTION 'lost'"])
        // The server counts dead rows when a session ends.
        await owner.close()
        var found: [Finding] = []
        repeat {
            found = await examine(server, adapter.configuration)
        } while !found.contains {
            $0.subject == "table keel.documents"
        }
        #expect(try only("table keel.documents", found).detail.hasPrefix("15000 of 1500"))
        let transaction = try only("transactions", found)
        #expect(transaction.state == .good)
        #expect(transaction.detail.contains("prepared as “lost”"))
        #expect(try only("index keel.removals", found).state == .problem)
        #expect(try only("index notes(n+)", found).detail.hasPrefix("33 % of it are built"))
        #expect(try only("reader sync", found).detail.hasPrefix("It holds the log of "))
        await adapter.close()
    }
}
#endif
