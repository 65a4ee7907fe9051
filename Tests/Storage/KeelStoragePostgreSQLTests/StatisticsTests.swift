#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Testing

@testable import KeelStoragePostgreSQL

#if Observability
import MetricsTestKit
#endif

@Suite("Statistics of PostgreSQL", .timeLimit(.minutes(10)))
struct StatisticsTests {
    private func batch(_ id: String, of count: Int = 1) -> WriteBatch {
        WriteBatch(
            (0..<count).map {
                DocumentWrite(
                    DocumentPath("notes/\(id)-\($0)"),
                    .set(DocumentBody(["id": .string(id)]))
                )
            }
        )
    }

    @Test("Groups and their writes are counted, with the wait for the tail")
    func counts() async throws {
        try await PostgreSQLServer.withStore { adapter in
            #expect(try await adapter.statistics().groupCount == 0)
            #expect(try await adapter.statistics().writesPerGroup == 0)
            for size in [1, 3, 8] { _ = try await adapter.commit([batch("a", of: size)])[0].get() }
            let first = try await adapter.statistics()
            #expect(first.groupCount == 3)
            #expect(first.writeCount == 12)
            #expect(first.writesPerGroup == 4)
            #expect(first.tailWait > .zero)
            #expect(first.seesOtherRoles)
            #expect(first.feedLag == nil)
            // Somebody else has the tail until the commit gives up.
            let stranger = try ConnectionThread.test(try await PostgreSQLServer.shared.value.url())
            let tail = "SELECT 1 FROM keel.stores WHERE store = \(adapter.store.number) FOR UPDATE"
            // A stranger sets no time limit for its transactions.
            let unlimited = "SET idle_in_transaction_session_timeout = 0"
            try await stranger.run([unlimited, "BEGIN", tail])
            // Only now: what came before may take longer on a busy machine.
            try await adapter.pool.writer.run { $0.answerLimit = .milliseconds(400) }
            await #expect(throws: StorageError.self) { try await adapter.commit([batch("b")]) }
            try await stranger.run(["ROLLBACK"])
            let second = try await adapter.statistics()
            #expect(second.failedGroupCount == 1)
            #expect(second.groupCount == 3)
            #expect(second.longestTailWait >= .milliseconds(400))
            #expect(second.tailWait >= first.tailWait + .milliseconds(400))
            await stranger.close()
        }
    }

    @Test("The feed of an adapter that follows changes lags behind until it has announced them")
    func follows() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let start = try await adapter.changes(ChangeRequest()).next
            async let page = adapter.changes(ChangeRequest(after: start, waitTimeout: .seconds(60)))
            _ = try await adapter.commit([batch("a")])[0].get()
            #expect(try await page.changes.count == 1)
            // Every change so far is announced.
            while try await adapter.statistics().feedLag != .zero {
                let next = try await adapter.changes(ChangeRequest()).next
                _ = try await adapter.changes(
                    ChangeRequest(after: next, waitTimeout: .milliseconds(1))
                )
            }
        }
    }

    @Test("The oldest transaction is that of any role, idle or prepared")
    func oldest() async throws {
        let server = try await PostgreSQLServer(options: ["max_prepared_transactions=2"])
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        #expect(try await adapter.statistics().oldestTransaction == nil)
        let stranger = try ConnectionThread.test(server.url())
        try await stranger.run(["BEGIN", "SELECT txid_current()"])
        let open = try #require(try await adapter.statistics().oldestTransaction)
        #expect(open > .zero)
        #expect(try #require(try await adapter.statistics().oldestTransaction) > open)
        try await stranger.run(["PREPARE TRANSACTION 'x'"])
        #expect(try #require(try await adapter.statistics().oldestTransaction) > .zero)
        try await stranger.run(["ROLLBACK PREPARED 'x'"])
        #expect(try await adapter.statistics().oldestTransaction == nil)
        await stranger.close()
        await adapter.close()
    }

    @Test("Standbys appear with their lag")
    func standbys() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(primary.url()))
        while try await adapter.statistics().standbys.first?.lagBytes != 0 {}
        let found = try #require(try await adapter.statistics().standbys.first)
        #expect(found.name == "walreceiver")
        #expect(found.state == "streaming")
        #expect(!found.isSynchronous)
        try await standby.run("SELECT pg_wal_replay_pause()")
        _ = try await adapter.commit([batch("a", of: 100)])[0].get()
        while try await adapter.statistics().standbys.first?.lagBytes == 0 {}
        let behind = try #require(try await adapter.statistics().standbys.first?.lagBytes)
        #expect(behind > 1_000)
        // A role without the right to see it gets no lag, instead of none at all.
        try await primary.run("CREATE ROLE modest LOGIN")
        let modest = try ConnectionThread.test(primary.url("modest"))
        let hidden = try await modest.run { connection in
            try connection.run(DatabaseStatement(ServerActivity.standbys))
                .map(PostgreSQLStorageAdapter.Statistics.Standby.init)
        }
        let unknown = PostgreSQLStorageAdapter.Statistics.Standby(
            name: "walreceiver",
            state: "",
            isSynchronous: false
        )
        #expect(hidden == [unknown])
        await modest.close()
        await adapter.close()
    }

    @Test("Of standbys with one name, the one that is farthest behind has the figures of the name")
    func sharesNames() {
        var statistics = PostgreSQLStorageAdapter.Statistics()
        for (name, lag) in [("walreceiver", 5), ("walreceiver", 2), ("other", 1)] {
            statistics.standbys.append(
                .init(
                    name: name,
                    state: "streaming",
                    isSynchronous: false,
                    lag: .seconds(lag),
                    lagBytes: Int64(lag) * 1_000
                )
            )
        }
        func values(_ name: String) -> [String] {
            statistics.figures.filter { $0.name == name }
                .map { "\($0.standbys.map(\.1)) \($0.value)" }
        }
        #expect(values("standby_lag_seconds") == [#"["other"] 1.0"#, #"["walreceiver"] 5.0"#])
        #expect(values("standby_lag_bytes") == [#"["other"] 1000.0"#, #"["walreceiver"] 5000.0"#])
    }

    @Test("The oldest snapshot may be that of a standby’s query, which the examination names")
    func snapshots() async throws {
        let primary = try await PostgreSQLServer()
        defer { primary.stop() }
        let standby = try await PostgreSQLServer(
            standbyOf: primary,
            options: ["hot_standby_feedback=on", "wal_receiver_status_interval=1s"]
        )
        defer { standby.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(primary.url()))
        let address = standby.url(PostgreSQLServer.role, "?target_session_attrs=any")
        let reader = try ConnectionThread.test(address)
        let query = "SELECT count(*) FROM pg_class"
        try await reader.run(["BEGIN ISOLATION LEVEL REPEATABLE READ", query])
        let most = DatabaseExamination.oldSnapshot.warning
        // Each subtransaction that writes takes a number. All in one statement could exceed the limit for its answer.
        for _ in 0..<20 {
            try await primary.run(
                """
                DO $$ BEGIN CREATE TEMP TABLE spent (n int); FOR i IN 1..\(most / 20) LOOP
                BEGIN INSERT INTO spent VALUES (i); EXCEPTION WHEN unique_violation THEN END;
                END LOOP; END $$
                """
            )
        }
        // The standby tells its snapshot once a second.
        while try await adapter.statistics().oldestSnapshotTransactionCount ?? 0 < Int(most) {}
        #expect(try await adapter.statistics().oldestTransaction == nil)
        let findings = await PostgreSQLStorageAdapter.examine(.url(primary.url()))
        let subject = "transactions of standby walreceiver"
        let finding = try #require(findings.first { $0.subject == subject })
        #expect(finding.state == .warning)
        try await reader.run(["COMMIT"])
        while try await adapter.statistics().oldestSnapshotTransactionCount ?? 0 >= Int(most) {}
        await reader.close()
        await adapter.close()
    }

    @Test("Statistics are a text for Prometheus, also without a server")
    func text() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        // A clock that stands still, because the text leaves out what takes more than five seconds.
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            $0.clock = TestClock()
        }
        _ = try await adapter.commit([batch("a", of: 3)])[0].get()
        let lines = await adapter.metricsText(label: "a\"b").split(separator: "\n")
        #expect(lines.contains("# TYPE keel_postgresql_writes counter"))
        #expect(lines.contains(#"keel_postgresql_writes{store="a\"b"} 3.0"#))
        #expect(lines.contains(#"keel_postgresql_up{store="a\"b"} 1.0"#))
        // Of several stores, a metric has all lines in one place.
        let both = await PostgreSQLStorageAdapter.metricsText([("a", adapter), ("b", adapter)])
        let text = both.split(separator: "\n")
        #expect(text.count { $0 == "# TYPE keel_postgresql_up gauge" } == 1)
        let first = try #require(text.firstIndex { $0 == #"keel_postgresql_up{store="a"} 1.0"# })
        #expect(text[first + 1] == #"keel_postgresql_up{store="b"} 1.0"#)
        server.stop()
        let without = await adapter.metricsText().split(separator: "\n")
        #expect(without.last == #"keel_postgresql_up{store="storage"} 0.0"#)
        #expect(without.count == 3)
        await adapter.close()
    }

    @Test("The text says within five seconds that a server is silent")
    func silence() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let clock = TestClock()
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) { $0.clock = clock }
        // The connection that statistics use next.
        let pid = try await adapter.pool.reading(isQuick: true) {
            try $0.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0) ?? 0
        }
        func signal(_ name: String) async throws {
            // A program that does not read its input fails the statement.
            let program = "cat >/dev/null; kill -\(name) \(pid)"
            try await server.run("COPY (SELECT 1) TO PROGRAM '\(program)'")
        }
        try await signal("STOP")
        let text = Task { await adapter.metricsText() }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        let lines = await text.value.split(separator: "\n")
        try await signal("CONT")
        #expect(lines.last == #"keel_postgresql_up{store="storage"} 0.0"#)
        await adapter.close()
    }

    @Test("Each alarm of the documentation has a metric, and a section that says what to do")
    func alarms() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../../Documentation/Operations.md")
        let text = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        var statistics = PostgreSQLStorageAdapter.Statistics()
        statistics.feedLag = .zero
        statistics.standbys = [
            .init(name: "a", state: "", isSynchronous: true, lag: .zero, lagBytes: 0)
        ]
        let names = ([StatisticsFigure.isUp(true)] + statistics.figures).map(\.name)
        let sections = text.components(separatedBy: "\n## ")
        let alarms = text.matches(of: /alert: (\w+), expr: ([^\n]*)/)
        #expect(alarms.count >= 9)
        for alarm in alarms {
            let (name, expression) = (alarm.output.1, alarm.output.2)
            let found = expression.matches(of: /keel_postgresql_(\w+)/)
            let metrics = found.map { String($0.output.1) }
            #expect(!metrics.isEmpty, "\(name)")
            #expect(metrics.allSatisfy { names.contains($0) }, "\(name): \(metrics)")
            let section = sections.first { section in
                let title = section.prefix { $0 != "\n" }.components(separatedBy: ", ")
                return title.contains(String(name))
            }
            #expect(section?.contains("**Do.**") == true, "\(name) has no section")
        }
    }

    #if Observability
    @Test("Statistics are reported as metrics, and an unreachable server too")
    func reports() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let metrics = TestMetrics()
        var report = StatisticsReport(store: "main", metrics)
        for size in [2, 3] {
            _ = try await adapter.commit([batch("a", of: size)])[0].get()
            report.record(try await adapter.statistics())
        }
        let store = [("store", "main")]
        #expect(try metrics.expectGauge("keel_postgresql_up", store).lastValue == 1)
        #expect(try metrics.expectCounter("keel_postgresql_groups", store).totalValue == 2)
        #expect(try metrics.expectCounter("keel_postgresql_writes", store).totalValue == 5)
        #expect(try metrics.expectGauge("keel_postgresql_waiting_calls", store).lastValue == 0)
        #expect(try metrics.expectGauge("keel_postgresql_readers", store).lastValue == 1)
        #expect(try metrics.expectGauge("keel_postgresql_refused_readers", store).lastValue == 0)
        #expect(
            try metrics.expectGauge("keel_postgresql_oldest_transaction_seconds", store).lastValue
                == 0
        )
        #expect(
            try metrics.expectGauge("keel_postgresql_oldest_snapshot_transactions", store).lastValue
                == 0
        )
        server.stop()
        let reporting = Task {
            await adapter.reportMetrics(label: "main", to: metrics, every: .milliseconds(1))
        }
        while try metrics.expectGauge("keel_postgresql_up", store).lastValue != 0 {
            await Task.yield()
        }
        reporting.cancel()
        await reporting.value
        await adapter.close()
    }
    #endif
}
#endif
