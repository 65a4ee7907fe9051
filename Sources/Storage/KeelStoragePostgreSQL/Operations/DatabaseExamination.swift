#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting

struct DatabaseExamination {
    typealias Finding = PostgreSQLStorageAdapter.Finding

    /// The ages in microseconds from which on a transaction is a warning, and a problem.
    static let longTransaction: (warning: Int64, problem: Int64) = (60_000_000, 900_000_000)
    /// The numbers of transactions from which on the snapshot of a standby or a slot is a warning, and a problem.
    ///
    /// A standby without queries reports its snapshot only every ten seconds.
    static let oldSnapshot: (warning: Int64, problem: Int64) = (100_000, 1_000_000)
    /// The lag in microseconds above which a standby is a warning.
    static let longLag: Int64 = 10_000_000
    /// The bytes of the write-ahead log above which an unused slot is a warning.
    static let largeSlot: Int64 = 1 << 30

    let connection: DatabaseConnection
    let configuration: PostgreSQLStorageAdapter.Configuration

    /// Returns the findings of all parts.
    ///
    /// A part that fails is a finding; a missing right of the role is one only once.
    func findings() -> [Finding] {
        let parts: [(String, () throws -> [Finding])] = [
            ("role", role), ("settings", settings), ("replication", replication),
            ("connections", connections), ("transactions", transactions), ("standbys", standbys),
        ]
        let store = StoreExamination(connection: connection, configuration: configuration)
        var findings: [Finding] = []
        for (subject, part) in parts + store.parts {
            do {
                findings += try part()
            } catch {
                let error = StorageError(mapping: error)
                // The finding about the role names what it lacks.
                let isNamed = findings.contains { $0.subject == "role" && $0.state == .problem }
                if isNamed, error.code == .permissionDenied { continue }
                let cause = error.cause.map { ": \($0)" } ?? ""
                findings.append(
                    .problem(
                        subject,
                        "It cannot be examined: \(error.message)\(cause)",
                        advice: error.code.advice
                    )
                )
            }
        }
        return findings
    }

    private func rows(_ sql: String) throws -> DatabaseRows {
        try connection.run(DatabaseStatement(sql))
    }

    // MARK: The role

    private func role() throws -> [Finding] {
        let rows = try rows(
            """
            SELECT current_user::text, rolsuper, has_database_privilege(current_database(), 'CREATE'),
                pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), to_regnamespace('keel') IS NOT NULL,
                coalesce(has_schema_privilege(to_regnamespace('keel'), 'USAGE'), false), (
                    SELECT string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
                    WHERE relnamespace = to_regnamespace('keel') AND relkind = 'r' AND NOT (
                        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')
                    )
                )
            FROM pg_roles WHERE rolname = current_user
            """
        )
        guard let row = rows.first else { return [] }
        let name = row.text(0)
        var findings: [Finding] = []
        if row.boolean(4) {
            if !row.boolean(5) || !row.isNull(6) {
                let tables = row.boolean(5) ? "the tables \(row.text(6))" : "the schema keel"
                findings.append(
                    .problem(
                        "role",
                        "“\(name)” may not read and write \(tables).",
                        advice:
                            "GRANT USAGE ON SCHEMA keel TO \(name); GRANT SELECT, INSERT, UPDATE, "
                            + "DELETE ON ALL TABLES IN SCHEMA keel TO \(name);"
                    )
                )
            }
        } else if !row.boolean(2) {
            findings.append(
                .problem(
                    "role",
                    "There is no schema “keel”, and “\(name)” may not create one.",
                    advice: "Run `keel storage migrate` with another role, or "
                        + "GRANT CREATE ON DATABASE … TO \(name);"
                )
            )
        }
        if findings.isEmpty {
            findings.append(.good("role", row.boolean(1) ? "\(name), a superuser" : name))
        }
        if !row.boolean(3) {
            findings.append(
                .warning(
                    "role",
                    "“\(name)” does not see the transactions of other roles, and no lags of standbys.",
                    advice: "GRANT pg_monitor TO \(name);"
                )
            )
        }
        return findings
    }

    // MARK: Settings

    /// The values of settings for a new session of the role, by their names.
    private func values() throws -> [String: String] {
        let names = [
            "autovacuum", "fsync", "full_page_writes", "idle_in_transaction_session_timeout",
            "max_connections", "statement_timeout", "superuser_reserved_connections",
            "synchronous_commit", "synchronous_standby_names", "wal_level",
        ]
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        let rows = try rows(
            "SELECT name, coalesce(reset_val, setting) FROM pg_settings WHERE name IN (\(list))"
        )
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.text(0), $0.text(1)) })
    }

    private func settings() throws -> [Finding] {
        let values = try values()
        var findings: [Finding] = []
        if values["fsync"] == "off" {
            findings.append(
                .problem(
                    "durability",
                    "fsync is off: a power failure can destroy the database.",
                    advice: "Set fsync = on, and restart the server."
                )
            )
        } else if values["full_page_writes"] == "off" {
            findings.append(
                .warning(
                    "durability",
                    "full_page_writes is off: a power failure can damage pages.",
                    advice: "Set full_page_writes = on, unless the file system writes pages whole."
                )
            )
        } else if values["synchronous_commit"] == "off" {
            findings.append(
                .warning(
                    "durability",
                    "synchronous_commit is off: a crash of the server loses the last answered commits.",
                    advice:
                        "ALTER ROLE … SET synchronous_commit = on, unless that loss is acceptable."
                )
            )
        } else {
            let value = values["synchronous_commit"] ?? "on"
            findings.append(.good("durability", "synchronous_commit = \(value)"))
        }
        if values["autovacuum"] == "off" {
            findings.append(
                .problem(
                    "autovacuum",
                    "It is off: tables grow, and every commit becomes slower.",
                    advice: "Set autovacuum = on, and reload the configuration."
                )
            )
        }
        findings.append(timeLimits(values))
        return findings
    }

    private func timeLimits(_ values: [String: String]) -> Finding {
        let statement = values["statement_timeout"].flatMap { Int64($0) } ?? 0
        let limit = configuration.answerTimeout.microseconds / 1_000
        if statement > 0, statement < limit {
            return .warning(
                "time limits",
                "statement_timeout is \(Shown.duration(statement * 1_000)): longer reads, checks and "
                    + "builds of indexes fail.",
                advice: "ALTER ROLE … SET statement_timeout = 0; Keel itself waits "
                    + "\(Shown.duration(limit * 1_000)) for an answer."
            )
        }
        let idle = values["idle_in_transaction_session_timeout"].flatMap { Int64($0) } ?? 0
        let text = idle == 0 ? "no limit" : Shown.duration(idle * 1_000)
        return .good(
            "time limits",
            "idle_in_transaction_session_timeout for other programs: \(text); Keel's own is 5 s"
        )
    }

    private func replication() throws -> [Finding] {
        let values = try values()
        let rows = try rows(
            """
            SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum') AND state = 'streaming')
            FROM pg_stat_replication
            """
        )
        let (standbys, synchronous) = (rows.first?.integer(0) ?? 0, rows.first?.integer(1) ?? 0)
        let names = values["synchronous_standby_names"] ?? ""
        let waits = !["off", "local"].contains(values["synchronous_commit"] ?? "on")
        if !names.isEmpty, waits {
            guard synchronous == 0 else {
                return [
                    .good(
                        "replication",
                        "synchronous (\(names)), \(synchronous) of \(standbys) standbys confirm commits"
                    )
                ]
            }
            return [
                .problem(
                    "replication",
                    "synchronous_standby_names is “\(names)”, but no such standby is connected: every "
                        + "commit waits.",
                    advice: "Start the standby. To go on without it, set synchronous_standby_names "
                        + "= '' and reload; a failover then may lose commits. Never cancel a waiting "
                        + "commit: it stays, unconfirmed."
                )
            ]
        }
        if values["wal_level"] == "minimal" {
            return [
                .warning(
                    "replication",
                    "wal_level is minimal: the server can have no standby and no archive.",
                    advice: "Set wal_level = replica, and restart the server."
                )
            ]
        }
        let text =
            standbys == 0
            ? "no standby"
            : "\(standbys) standbys, asynchronous: a failover may lose the last commits"
        return [.good("replication", text)]
    }

    private func connections() throws -> [Finding] {
        let values = try values()
        let rows = try rows(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        )
        let used = rows.first?.integer(0) ?? 0
        let most = values["max_connections"].flatMap { Int64($0) } ?? 0
        let reserved = values["superuser_reserved_connections"].flatMap { Int64($0) } ?? 0
        let store = StoreExamination(connection: connection, configuration: configuration)
        // Another finding reports missing rights of the role.
        let keepsHistory = (try? store.keepsHistory()) ?? false
        let held = keepsHistory ? 0 : HeldStates<ConnectionThread>.most
        let needed = Int64(configuration.readerCount + 2 + held)
        let text =
            "\(used) of \(most - reserved) connections are in use; an adapter uses up to \(needed)"
            + (held == 0 ? "" : ", \(held) of them for held states")
        guard most - reserved - used < needed else { return [.good("connections", text)] }
        return [
            .warning(
                "connections",
                text,
                advice: "Raise max_connections, put a pooler in front, or lower readerCount: an "
                    + "adapter works with fewer, but more slowly."
            )
        ]
    }

    // MARK: Transactions and standbys

    private func transactions() throws -> [Finding] {
        let rows = try rows(
            "SELECT * FROM (\(ServerActivity.transactions)) t ORDER BY age DESC LIMIT 1"
        )
        guard let row = rows.first else { return [.good("transactions", "none is open")] }
        let age = row.integer(0)
        let isPrepared = !row.isNull(5)
        let owner =
            isPrepared
            ? "prepared as “\(row.text(5))”"
            : "process \(row.integer(1)), “\(row.text(2))” of \(row.text(3)), \(row.text(4))"
        let detail = "the oldest is open for \(Shown.duration(age)) (\(owner))"
        guard age >= Self.longTransaction.warning else { return [.good("transactions", detail)] }
        let end =
            isPrepared
            ? "ROLLBACK PREPARED '\(row.text(5))';"
            : "SELECT pg_terminate_backend(\(row.integer(1)));"
        return [
            Finding(
                subject: "transactions",
                state: age >= Self.longTransaction.problem ? .problem : .warning,
                detail: detail,
                advice:
                    "While it is open, the server cannot clean up, and commits become slower. End "
                    + "it: \(end) Dump from a standby, and set idle_in_transaction_session_timeout."
            )
        ]
    }

    private func standbys() throws -> [Finding] {
        let found = try rows(ServerActivity.standbys)
            .map(PostgreSQLStorageAdapter.Statistics.Standby.init)
        let findings = found.map { standby -> Finding in
            let subject = "standby \(standby.name)"
            guard !standby.state.isEmpty else { return .good(subject, "connected") }
            let lag = standby.lag.map { ", \(Shown.duration($0.microseconds)) behind" } ?? ""
            let bytes = standby.lagBytes.map { ", \(Shown.bytes($0)) to replay" } ?? ""
            let kind = standby.isSynchronous ? "synchronous, " : ""
            let detail = "\(kind)\(standby.state)\(lag)\(bytes)"
            let isLate = (standby.lag?.microseconds ?? 0) > Self.longLag
            guard isLate || standby.state != "streaming" else { return .good(subject, detail) }
            return .warning(
                subject,
                detail,
                advice: "Look for long queries, a slow disk or a slow network at the standby; a "
                    + "failover to it takes longer, and without synchronous replication loses commits."
            )
        }
        return try findings + snapshots() + slots()
    }

    /// Returns old snapshots of standbys and slots; ``transactions()`` has those of this server.
    private func snapshots() throws -> [Finding] {
        let rows = try rows(
            """
            SELECT held, kind, name FROM (\(ServerActivity.snapshots)) s
            WHERE kind <> 'transaction' AND held >= \(Self.oldSnapshot.warning) ORDER BY held DESC
            """
        )
        return rows.map { row in
            let isSlot = row.text(1) == "slot"
            return Finding(
                subject: "transactions of \(row.text(1)) \(row.text(2))",
                state: row.integer(0) >= Self.oldSnapshot.problem ? .problem : .warning,
                detail: "It holds a snapshot that is \(row.integer(0)) transactions old.",
                advice: "While it is held, the server cannot clean up, and commits become slower. "
                    + (isSlot
                        ? "End long queries on the slot’s standby and set hot_standby_feedback = "
                            + "off there; if the slot is not used, drop it: "
                            + "SELECT pg_drop_replication_slot('\(row.text(2))');"
                        : "End long queries on the standby, or set hot_standby_feedback = off there.")
            )
        }
    }

    private func slots() throws -> [Finding] {
        let rows = try rows(
            """
            SELECT slot_name::text, coalesce(wal_status, ''), CASE WHEN pg_is_in_recovery() THEN 0
                ELSE coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint END
            FROM pg_replication_slots WHERE NOT active ORDER BY 1
            """
        )
        return rows.compactMap { row in
            let isLost = row.text(1) == "lost"
            guard isLost || row.integer(2) > Self.largeSlot else { return nil }
            return Finding(
                subject: "slot \(row.text(0))",
                state: isLost ? .problem : .warning,
                detail: isLost
                    ? "Its standby cannot catch up any more."
                    : "It is not used, and it keeps \(Shown.bytes(row.integer(2))) of the write-ahead log.",
                advice: isLost
                    ? "Rebuild the standby with pg_basebackup."
                    : "Start its standby, or drop it before the disk is full: "
                        + "SELECT pg_drop_replication_slot('\(row.text(0))');"
            )
        }
    }
}
#endif
