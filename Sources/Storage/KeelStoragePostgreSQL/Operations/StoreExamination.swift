#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting

struct StoreExamination {
    typealias Finding = PostgreSQLStorageAdapter.Finding

    /// The number of dead rows above which a table with more than a fifth of them is a warning.
    static let manyDeadRows: Int64 = 10_000
    /// The bytes of the table of tails above which it is a warning.
    static let largeTails: Int64 = 16 << 20

    let connection: DatabaseConnection
    let configuration: PostgreSQLStorageAdapter.Configuration

    var parts: [(String, () throws -> [Finding])] {
        [
            ("store", store), ("tables", tables), ("indexes", indexes), ("change log", log),
            ("readers", readers),
        ]
    }

    private func rows(
        _ sql: String,
        _ add: (inout StatementArguments) -> Void = { _ in }
    ) throws -> DatabaseRows {
        try connection.run(DatabaseStatement(sql, add))
    }

    // MARK: The store

    /// The store's number and tail; nil if the database lacks the store or its present tables.
    private func opened() throws -> (number: Int64, tail: StoreTail)? {
        guard try StoreTables.version(in: connection) == StoreTables.version else { return nil }
        let rows = try rows("SELECT store, \(StoreTail.columns) FROM keel.stores WHERE name = $1") {
            $0.add(configuration.store.utf8)
        }
        return rows.first.map { ($0.integer(0), StoreTail($0, from: 1)) }
    }

    /// Returns whether no held state has a connection of its own.
    func keepsHistory() throws -> Bool { try opened()?.tail.historyAge != nil }

    private func store() throws -> [Finding] {
        let version = try StoreTables.version(in: connection)
        let subject = "store \(configuration.store)"
        guard version > 0 else {
            return [
                .problem(
                    subject,
                    "The database has no tables of Keel.",
                    advice: "Create them with `keel storage migrate`, or correct the URL."
                )
            ]
        }
        guard version == StoreTables.version else {
            return [
                .warning(
                    subject,
                    "The tables have version \(version); this program has \(StoreTables.version).",
                    advice: "Run `keel storage migrate`; opening the store does the same."
                )
            ]
        }
        let count = try rows("SELECT count(*) FROM keel.stores").first?.integer(0) ?? 0
        guard let (number, tail) = try opened() else {
            return [
                .problem(
                    subject,
                    "The database has \(count) stores, but none of this name.",
                    advice: "Correct the URL; `keel serve` and `keel documents import` create one."
                )
            ]
        }
        do throws(StorageError) { try tail.checkFormat() } catch {
            return [.problem(subject, error.message, advice: error.code.advice)]
        }
        let adapters = try rows("SELECT count(*) FROM keel.groups WHERE store = $1") {
            $0.add(number)
        }
        let history = tail.historyAge.map { ", a history of \(Shown.duration($0))" } ?? ""
        let detail =
            "tables of version \(version), one of \(count) stores, written by "
            + "\(adapters.first?.integer(0) ?? 0) adapters lately\(history)"
        var findings = [Finding.good(subject, detail)]
        let ahead = tail.sequence - tail.clock
        if ahead > 60_000_000 {
            findings.append(
                .warning(
                    "clock",
                    "The last commit is \(Shown.duration(ahead)) ahead of the server's clock.",
                    advice:
                        "Set the server's clock right (NTP); until it catches up, documents get "
                        + "times in the future, and nothing is lost."
                )
            )
        }
        return findings
    }

    // MARK: Tables

    private func tables() throws -> [Finding] {
        let rows = try rows(
            """
            SELECT c.relname::text, pg_total_relation_size(c.oid), coalesce(s.n_live_tup, 0),
                coalesce(s.n_dead_tup, 0),
                (extract(epoch FROM clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum)) * 1000000)::bigint
            FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
            WHERE c.relnamespace = to_regnamespace('keel') AND c.relkind = 'r' ORDER BY 2 DESC, 1
            """
        )
        guard rows.count > 0 else { return [] }
        let total = rows.reduce(Int64(0)) { $0 + $1.integer(1) }
        let largest = rows.prefix(4).map { "\($0.text(0)) \(Shown.bytes($0.integer(1)))" }
        var findings = [
            Finding.good(
                "tables",
                "\(Shown.bytes(total)) with indexes: \(largest.joined(separator: ", "))"
            )
        ]
        for row in rows {
            let (name, size, live, dead) = (
                row.text(0), row.integer(1), row.integer(2), row.integer(3)
            )
            let isTails = name == "stores"
            let isBloated =
                isTails ? size > Self.largeTails : dead > Self.manyDeadRows && dead * 4 > live
            guard isBloated else { continue }
            let last = row.optional(4).map { "\(Shown.duration($0)) ago" } ?? "never"
            findings.append(
                .warning(
                    "table keel.\(name)",
                    "\(dead) of \(live + dead) rows are dead, in \(Shown.bytes(size)); last vacuum: "
                        + "\(last)",
                    advice:
                        "End long transactions first. Then VACUUM keel.\(name); to give the space "
                        + "back, VACUUM FULL in a pause, because it locks the table."
                )
            )
        }
        return findings
    }

    // MARK: Indexes

    private func indexes() throws -> [Finding] {
        var findings = try rows(
            """
            SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE c.relnamespace = to_regnamespace('keel') AND NOT (i.indisvalid AND i.indisready) ORDER BY 1
            """
        ).map { row in
            Finding.problem(
                "index keel.\(row.text(0))",
                "The server does not use it: its build failed or has not ended.",
                advice: "REINDEX INDEX keel.\(row.text(0));"
            )
        }
        guard let (number, tail) = try opened() else { return findings }
        let stored = try rows(
            "SELECT name, built FROM keel.indexes WHERE store = $1 ORDER BY ix"
        ) { $0.add(number) }
        let open = stored.filter { !$0.isNull(1) }
        if findings.isEmpty, open.isEmpty {
            return [.good("indexes", "\(stored.count) declared, all complete")]
        }
        for row in open {
            let built = row.integer(1)
            guard built != IndexBuild.dropped else {
                findings.append(
                    .warning(
                        "index \(row.text(0))",
                        "It is dropped, but its entries are not removed yet.",
                        advice:
                            "Wait; if no program is at work on it, open the store with its schema "
                            + "once more."
                    )
                )
                continue
            }
            let share = tail.documents == 0 ? 100 : min(100, built * 100 / tail.documents)
            findings.append(
                .warning(
                    "index \(row.text(0))",
                    "\(share) % of it are built; until it is complete, queries scan.",
                    advice: "Wait; if the number stays, start a program that declares it."
                )
            )
        }
        return findings
    }

    // MARK: The change log

    private func log() throws -> [Finding] {
        guard let (number, tail) = try opened() else { return [] }
        let rows = try rows(
            "SELECT count(*), min(seq) FROM keel.changes WHERE store = $1 AND seq > $2"
        ) {
            $0.add(number)
            $0.add(tail.trimmed)
        }
        guard let row = rows.first, let first = row.optional(1) else {
            return [.good("change log", "empty")]
        }
        let whole = max(tail.compacted, first)
        let last = "the last change is \(Shown.duration(tail.clock - tail.sequence)) old"
        let compacted =
            tail.compacted > tail.trimmed
            ? ", complete for \(Shown.duration(tail.clock - whole))" : ""
        return [
            .good(
                "change log",
                "\(row.integer(0)) changes of \(Shown.duration(tail.clock - first))\(compacted), \(last)"
            )
        ]
    }

    private func readers() throws -> [Finding] {
        guard let (number, tail) = try opened() else { return [] }
        let rows = try rows(
            """
            SELECT r.name, r.seq, r.seen, r.lifetime, (
                SELECT c.seq FROM keel.changes c WHERE c.store = $1 AND c.seq > r.seq ORDER BY c.seq LIMIT 1
            )
            FROM keel.readers r WHERE r.store = $1 ORDER BY r.seq
            """
        ) { $0.add(number) }
        guard rows.count > 0 else { return [.good("readers", "none is registered")] }
        let most = configuration.retention.age.microseconds
        let late = rows.filter { row in row.optional(4).map { tail.clock - $0 > most } ?? false }
        var findings: [Finding] = [.good("readers", "\(rows.count) are registered")]
        for row in late {
            let name = row.text(0)
            let away = Shown.duration(tail.clock - row.integer(2))
            if row.integer(1) < tail.trimmed {
                findings.append(
                    .warning(
                        "reader \(name)",
                        "It was away for \(away), and starts over with a copy when it comes back.",
                        advice: "Start it, or remove it: unregisterReader(_:)."
                    )
                )
            } else {
                findings.append(
                    .warning(
                        "reader \(name)",
                        "It holds the log of \(Shown.duration(tail.clock - row.integer(4))), and was last "
                            + "seen \(away) ago.",
                        advice:
                            "Start it, or remove it: unregisterReader(_:). It counts as gone after "
                            + "\(Shown.duration(row.integer(3)))."
                    )
                )
            }
        }
        return findings
    }
}
#endif
