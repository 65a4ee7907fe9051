#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting

/// Removes rows that are older than the retention, in steps that hold the tail.
struct StoreTrimming {
    private static let mostReceipts = 10_000
    private static let mostImages = 1_000
    private static let mostGroups = 1_000
    /// The shortest time for which the last group of an adapter is kept.
    ///
    /// An adapter that has lost its connection looks for its group. Four days, because `StoreAge` knows such ages
    /// without looking at every moment.
    private static let shortestGroupAge = Duration.seconds(4 * 86_400)

    private let retention: LogRetention
    private let snapshot: TableSnapshot
    private let tail: StoreTail
    private let age: StoreAge

    init(_ retention: LogRetention, _ snapshot: TableSnapshot, _ tail: StoreTail) throws {
        self.retention = retention
        self.snapshot = snapshot
        self.tail = tail
        age = try StoreAge(snapshot, tail, keeping: retention)
    }

    /// Runs one step; returns whether nothing is left to remove.
    func step() throws -> Bool {
        let need = try ReaderNeed(of: snapshot.readers(), at: age, horizon: retention.horizon)
        if !need.gone.isEmpty { try snapshot.removeReaders(need.gone) }
        var trimming = try LogTrimming(snapshot, tail.parts, keeping: retention, at: age)
        let isLogTrimmed = try trimming.step(keepingAfter: need.after)
        let history = tail.historyAge.map { [Duration.microseconds($0)] } ?? []
        let groupAge = max(retention.longestReceiptAge, Self.shortestGroupAge)
        let limits = try age.moments(
            surelyOlderThan: [retention.longestReceiptAge, groupAge] + history
        )
        let areReceiptsTrimmed = try limits[0].map { try removeReceipts(upTo: $0.sequence) } ?? true
        let areGroupsTrimmed = try limits[1].map { try removeGroups(upTo: $0.sequence) } ?? true
        // Without a history, there may be images of a former one.
        let isForgotten =
            try history.isEmpty
            ? removeImages(upTo: .max)
            : limits[2].map { try removeImages(upTo: $0.sequence) } ?? true
        let ages =
            [retention.horizon + need.lifetime, retention.receiptAge * 2, groupAge * 2] + history
        try age.forget(olderThan: ages.max() ?? .zero)
        return isLogTrimmed && areReceiptsTrimmed && areGroupsTrimmed && isForgotten
    }

    /// Removes the last groups of adapters that have not committed for a long time; their next commits add them again.
    private func removeGroups(upTo sequence: Int64) throws -> Bool {
        let removed = try snapshot.run(
            """
            DELETE FROM keel.groups WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM keel.groups WHERE store = $1 AND seq <= $2 LIMIT \(Self.mostGroups)))
            """
        ) { $0.add(sequence) }
        return removed.changedCount < Self.mostGroups
    }

    private func removeReceipts(upTo sequence: Int64) throws -> Bool {
        let removed = try snapshot.run(
            """
            DELETE FROM keel.receipts WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM keel.receipts WHERE store = $1 AND time <= $2
                ORDER BY time LIMIT \(Self.mostReceipts)))
            """
        ) { $0.add(sequence) }
        return removed.changedCount < Self.mostReceipts
    }

    private func removeImages(upTo sequence: Int64) throws -> Bool {
        let removed = try snapshot.run(
            """
            WITH gone AS (
                DELETE FROM keel.history WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM keel.history WHERE store = $1 AND time + 0 <= $2
                    ORDER BY time + 0 LIMIT \(Self.mostImages)))
                RETURNING time
            ), last AS (SELECT max(time) AS time, count(*) AS count FROM gone)
            UPDATE keel.stores s SET history_start = CASE WHEN s.history_age IS NOT NULL
                THEN greatest(s.history_start, last.time) END
            FROM last
            WHERE s.store = $1 AND last.time IS NOT NULL
            RETURNING last.count
            """
        ) { $0.add(sequence) }
        return removed.first?.integer(0) ?? 0 < Int64(Self.mostImages)
    }
}

extension StoreAge {
    /// Reads the present of a store, and records it if that is due; the transaction must hold the tail.
    init(_ snapshot: TableSnapshot, _ tail: StoreTail, keeping retention: LogRetention) throws {
        try self.init(
            snapshot,
            wall: snapshot.store.time(tail),
            sequence: tail.sequence,
            keeping: retention,
            history: tail.historyAge.map { .microseconds($0) }
        )
    }
}

// MARK: Moments

extension TableSnapshot: MomentTable {
    private static func moment(_ row: DatabaseRow) -> StoreMoment {
        StoreMoment(time: row.integer(0), wall: row.integer(1), sequence: row.integer(2))
    }

    func moments(upTo times: [Int64]) throws -> [StoreMoment?] {
        var found = [StoreMoment?](repeating: nil, count: times.count)
        let rows = try run(
            """
            SELECT m.time, m.wall, m.seq, t.n
            FROM unnest($2::bigint[]) WITH ORDINALITY AS t(time, n)
            CROSS JOIN LATERAL (
                SELECT time, wall, seq FROM keel.moments
                WHERE store = $1 AND time <= t.time ORDER BY time DESC LIMIT 1
            ) m
            """
        ) { $0.add(times) }
        for row in rows { found[Int(row.integer(3)) - 1] = Self.moment(row) }
        return found
    }

    func eachMoment(upTo time: Int64, _ take: (StoreMoment) throws -> Bool) throws {
        _ = try eachPage(expecting: nil) { count, last in
            // With a seventh column, which is the size of a row's body.
            try run(
                """
                SELECT time, wall, seq, NULL, NULL, NULL, NULL::bytea FROM keel.moments
                WHERE store = $1 AND time <= $2 ORDER BY time DESC LIMIT $3
                """
            ) {
                $0.add(last.map { $0.integer(0) - 1 } ?? time)
                $0.add(Int64(count))
            }
        } _: {
            try take(Self.moment($0))
        }
    }

    func record(_ moment: StoreMoment) throws {
        _ = try run(
            """
            INSERT INTO keel.moments(store, time, wall, seq) VALUES ($1, $2, $3, $4)
            ON CONFLICT (store, time) DO UPDATE SET wall = excluded.wall, seq = excluded.seq
            """
        ) {
            $0.add(moment.time)
            $0.add(moment.wall)
            $0.add(moment.sequence)
        }
    }

    func removeMoments(after time: Int64) throws {
        _ = try run("DELETE FROM keel.moments WHERE store = $1 AND time > $2") { $0.add(time) }
    }

    func removeMoments(before time: Int64) throws {
        _ = try run("DELETE FROM keel.moments WHERE store = $1 AND time < $2") { $0.add(time) }
    }
}

// MARK: The log

extension TableSnapshot: TrimmedLog {
    func eachAging(
        after sequence: Int64,
        isCompared: Bool,
        _ take: (AgingChange) throws -> Bool
    ) throws {
        // A document has the revision of its last change. A replica may give it an earlier revision again; the older
        // change with that revision then stays, which is harmless.
        let isSuperseded = """
            CASE WHEN c.removed THEN d.did IS NOT NULL OR EXISTS (
                SELECT 1 FROM keel.changes l
                WHERE l.removed AND l.store = $1 AND l.cid = c.cid AND l.id = c.id AND l.seq > c.seq
            ) ELSE d.did IS NULL OR d.rev <> c.rev END
            """
        let documents = """
            LEFT JOIN LATERAL (
                SELECT did, rev FROM keel.documents WHERE store = $1 AND cid = c.cid AND id = c.id
            ) d ON true
            """
        _ = try eachPage(expecting: 32) { count, last in
            try run(
                """
                SELECT c.seq, c.mark, c.removed, octet_length(c.id), coalesce(c.total, 0),
                    \(isCompared ? isSuperseded : "false"), NULL::bytea
                FROM (
                    SELECT * FROM keel.changes WHERE store = $1 AND seq > $2 ORDER BY seq LIMIT $3
                ) c \(isCompared ? documents : "")
                ORDER BY c.seq
                """
            ) {
                $0.add(last?.integer(0) ?? sequence)
                $0.add(Int64(count))
            }
        } _: { row in
            try take(
                AgingChange(
                    sequence: row.integer(0),
                    mark: row.integer(1),
                    isRemoval: row.boolean(2),
                    idLength: row.integer(3),
                    total: row.integer(4),
                    isSuperseded: row.boolean(5)
                )
            )
        }
    }

    func remove(_ changes: [AgingChange]) throws {
        _ = try run("DELETE FROM keel.changes WHERE store = $1 AND seq = ANY ($2)") {
            $0.add(changes.map(\.sequence))
        }
    }

    func removeChanges(before sequence: Int64) throws {
        _ = try run("DELETE FROM keel.changes WHERE store = $1 AND seq < $2") { $0.add(sequence) }
    }

    func write(_ parts: LogParts) throws {
        _ = try run(
            "UPDATE keel.stores SET trimmed = $2, compacted = $3, kept = $4 WHERE store = $1"
        ) {
            $0.add(parts.trimmed)
            $0.add(parts.compacted)
            $0.add(parts.kept)
        }
    }
}

// MARK: Readers

extension TableSnapshot {
    func readers() throws -> [StoredReader] {
        let rows = try run("SELECT name, seq, seen, lifetime FROM keel.readers WHERE store = $1")
        return rows.map { row in
            StoredReader(
                name: row.text(0),
                sequence: row.integer(1),
                seen: row.integer(2),
                lifetime: .microseconds(row.integer(3))
            )
        }
    }

    /// Records the position of a reader; the transaction must hold the tail.
    ///
    /// - Returns: Whether it was recorded; false if there are too many readers.
    func note(_ reader: ChangeReader, at sequence: Int64, _ age: StoreAge) throws -> Bool {
        let rows = try run(
            """
            INSERT INTO keel.readers(store, name, seq, seen, lifetime) SELECT $1, $2, $3, $4, $5
            WHERE (SELECT count(*) FROM keel.readers WHERE store = $1 AND name <> $2) < \(StoredReader.most)
            ON CONFLICT (store, name) DO UPDATE
            SET seq = excluded.seq, seen = excluded.seen, lifetime = excluded.lifetime
            """
        ) {
            $0.add(reader.name.utf8)
            $0.add(sequence)
            $0.add(age.now)
            $0.add(min(reader.lifetime, StoredReader.longestLifetime).microseconds)
        }
        return rows.changedCount > 0
    }

    func removeReaders(_ names: [String]) throws {
        _ = try run("DELETE FROM keel.readers WHERE store = $1 AND name = ANY ($2)") {
            $0.add(names: names)
        }
    }
}
#endif
