#if PostgreSQL
internal import CLibPQ
internal import KeelStorageAdapting

extension DatabaseConnection {
    /// Connects to the first host of the kind that the settings ask for, usually a primary, unless the connection is
    /// open.
    ///
    /// - Throws: ``ConnectionRace/failure``; ``WaitingEnd`` if the task is canceled.
    func openIfNeeded() throws {
        guard handle == nil else { return }
        var race = ConnectionRace(settings)
        while let attempt = try race.winner(for: self) {
            do {
                try use(attempt)
                race.succeed(attempt)
                return
            } catch let end as WaitingEnd where end == .cancelled {
                // The next caller would take it for an open connection.
                close()
                throw end
            } catch {
                close()
                race.fail(attempt, error)
            }
        }
        throw race.failure
    }

    private func use(_ attempt: ConnectionAttempt) throws {
        handle = attempt.takeHandle()
        guard let handle, PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw DatabaseFailure.lost("the connection to the server was lost")
        }
        prepared = [:]
        try begin(handle)
        openCount += 1
    }

    private func begin(_ handle: OpaquePointer) throws {
        isDirect = false
        let rows = try exchange(
            [
                DatabaseStatement(
                    "SELECT pg_backend_pid(), current_setting('server_version_num')::integer"
                )
            ],
            .interruptible
        )
        guard let row = rows[0].first else { throw lost(handle) }
        let version = row.integer(1)
        guard version >= 140_000 else {
            throw StorageError(
                .unsupported,
                "the server has version \(version / 10_000) of PostgreSQL; Keel needs 14 or later"
            )
        }
        guard row.integer(0) == Int64(PQbackendPID(handle)) else { return }
        let expectation = settings.lineage.expectation
        let session = try exchange(
            [
                DatabaseStatement(Self.settings(areLocal: false)),
                DatabaseStatement(Self.identity),
            ] + (expectation.map { [$0] } ?? []),
            .interruptible
        )
        if expectation != nil, session[2].first == nil { throw try removal() }
        tables = expectation == nil ? nil : session[2].first?.integer(0)
        if let found = Self.timeline(session[1].first, 0) {
            let system = session[1].first?.integer(1) ?? 0
            catalog = try settings.lineage.catalog(on: found, of: system, tables: tables)
            timeline = found
        } else {
            // While a standby runs, it never loses what it has, not even when it is promoted.
            catalog = StoreCatalog()
        }
        isDirect = true
    }

    /// The expression for the timeline of a primary, in hexadecimal; `NULL` on a standby.
    ///
    /// After a promotion, the last checkpoint still has the old timeline.
    static let timeline =
        "CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"

    static let identity = "SELECT \(timeline), (SELECT system_identifier FROM pg_control_system())"

    /// Returns the number of a timeline; nil on a standby.
    static func timeline(_ row: DatabaseRow?, _ column: Int32) -> Int64? {
        row.flatMap { $0.isNull(column) ? nil : Int64($0.text(column), radix: 16) }
    }

    /// Returns a statement that makes the server follow the plans that Keel's statements spell out, and limits idle
    /// transactions to five seconds.
    ///
    /// The server has no statistics about a table that has just been filled.
    static func settings(areLocal: Bool) -> String {
        let values = [
            ("enable_seqscan", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"),
            ("enable_bitmapscan", "off"), ("enable_sort", "off"), ("jit", "off"),
            ("plan_cache_mode", "force_generic_plan"),
            ("idle_in_transaction_session_timeout", "5000"),
        ]
        let calls = values.map { "set_config('\($0)', '\($1)', \(areLocal))" }
        return "SELECT " + calls.joined(separator: ", ")
    }

    func note(_ notice: OpaquePointer) {
        // The message is in the server's language; the source file is not.
        if DatabaseFailure.field("F", of: notice) == "syncrep.c" {
            isUnconfirmed = true
        }
    }
}
#endif
