#if PostgreSQL
internal import KeelStorageAdapting

extension TableSnapshot: LogSnapshot {
    func mark(of sequence: Int64) throws -> Int64? {
        try run("SELECT mark FROM keel.changes WHERE store = $1 AND seq = $2") { $0.add(sequence) }
            .first?.integer(0)
    }

    func lastMark(upTo sequence: Int64) throws -> Int64? {
        try run(
            "SELECT mark FROM keel.changes WHERE store = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1"
        ) { $0.add(sequence) }.first?.integer(0)
    }

    func firstMark(after sequence: Int64) throws -> Int64? {
        try run("SELECT mark FROM keel.changes WHERE store = $1 AND seq > $2 ORDER BY seq LIMIT 1")
        { $0.add(sequence) }.first?.integer(0)
    }

    func eachChange(
        after sequence: Int64,
        of collections: [Int64]?,
        with ids: [String]?,
        expecting count: Int,
        _ take: (LoggedChange) throws -> Bool
    ) throws -> Bool {
        let sql = Self.changes(isNarrowed: collections != nil, isNamed: ids != nil)
        return try eachPage(expecting: count, upTo: 1_024) { count, last in
            try run(sql) {
                $0.add(last?.integer(0) ?? sequence)
                $0.add(Int64(count))
                if let collections { $0.add(collections) }
                if collections != nil, let ids { $0.add(names: ids) }
            }
        } _: { row in
            try take(
                LoggedChange(
                    sequence: row.integer(0),
                    collection: row.integer(1),
                    id: row.text(2),
                    revision: row.integer(3),
                    isRemoval: row.boolean(4),
                    mark: row.integer(5),
                    origin: row.optional(7).map { ($0, row.integer(8)) }
                )
            )
        }
    }

    /// Returns the statement that reads a page of changes, of all or some collections or documents.
    static func changes(isNarrowed: Bool, isNamed: Bool) -> String {
        let ids = isNamed ? "AND id = ANY ($5)" : ""
        return """
            SELECT seq, cid, id, rev, removed, mark, NULL::bytea, client, mutation FROM keel.changes
            WHERE store = $1 AND seq > $2 \(isNarrowed ? "AND cid = ANY ($4) \(ids)" : "")
            ORDER BY seq LIMIT $3
            """
    }

    func lastRemovals(
        after changes: [LoggedChange]
    ) throws -> [(sequence: Int64, revision: Int64)?] {
        var removals: [(sequence: Int64, revision: Int64)?] = Array(
            repeating: nil,
            count: changes.count
        )
        let rows = try run(
            """
            SELECT c.n, r.seq, r.rev
            FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) WITH ORDINALITY AS c(cid, id, seq, n)
            CROSS JOIN LATERAL (
                SELECT seq, rev FROM keel.changes
                WHERE removed AND store = $1 AND cid = c.cid AND id = c.id AND seq > c.seq
                ORDER BY seq DESC LIMIT 1
            ) r
            """
        ) {
            $0.add(changes.map(\.collection))
            $0.add(names: changes.map(\.id))
            $0.add(changes.map(\.sequence))
        }
        for row in rows { removals[Int(row.integer(0)) - 1] = (row.integer(1), row.integer(2)) }
        return removals
    }

    func removalTimes(of sequences: [Int64]) throws -> [Timestamp] {
        let rows = try run(
            "SELECT seq, time FROM keel.changes WHERE store = $1 AND seq = ANY ($2) AND time IS NOT NULL"
        ) { $0.add(sequences) }
        var times: [Int64: Int64] = [:]
        for row in rows { times[row.integer(0)] = row.integer(1) }
        return sequences.map { Timestamp(microseconds: times[$0] ?? $0) }
    }

    func clientNames(of numbers: Set<Int64>) throws -> [Int64: String] {
        let rows = try run(
            "SELECT number, name FROM keel.clients WHERE store = $1 AND number = ANY ($2)"
        ) { $0.add(numbers) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.integer(0), $0.text(1)) })
    }

    func lastMutations(of clients: Set<String>) throws -> [String: Int64] {
        let rows = try run(
            "SELECT name, mutation FROM keel.clients WHERE store = $1 AND name = ANY ($2)"
        ) { $0.add(names: clients) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.text(0), $0.integer(1)) })
    }

    func eachDocument(
        after number: Int64,
        expecting count: Int,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        try eachPage(expecting: count) { count, last in
            try run(
                """
                SELECT \(Self.columns) FROM keel.documents d
                WHERE d.store = $1 AND d.did > $2 ORDER BY d.did LIMIT $3
                """
            ) {
                $0.add(last?.integer(0) ?? number)
                $0.add(Int64(count))
            }
        } _: {
            try $0.withStored(take)
        }
    }
}
#endif
