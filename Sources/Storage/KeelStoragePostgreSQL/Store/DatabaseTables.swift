#if PostgreSQL
public import KeelStorageAdapting

struct DatabaseTables: CheckedTables {
    private let snapshot: TableSnapshot
    private let tail: StoreTail

    init(_ snapshot: TableSnapshot, _ tail: StoreTail) {
        self.snapshot = snapshot
        self.tail = tail
    }

    /// Empty: the server checks its files itself, with `pg_amcheck`.
    func damage() -> [String] { [] }

    func indexes() throws -> [StoredIndex] { try snapshot.storedIndexes() }

    func hasChanges() -> Bool { tail.sequence != 0 }

    func eachDocument(_ take: (Result<CheckedDocument, StorageError>) throws -> Void) throws {
        _ = try snapshot.eachDocument(after: 0, expecting: .max) { row in
            try take(
                result {
                    CheckedDocument(
                        try snapshot.document(row),
                        collection: row.collection,
                        row: row.number
                    )
                }
            )
            return true
        }
    }

    func missing(_ entries: [CheckedEntry]) throws -> [Int] {
        guard !entries.isEmpty else { return [] }
        let keys = try entries.map { try $0.storedKey(sealedBy: snapshot.sealing) }
        let rows = try snapshot.run(
            """
            SELECT c.n FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])
                WITH ORDINALITY AS c(ix, cid, key, did, n)
            WHERE NOT EXISTS (
                SELECT 1 FROM keel.entries e
                WHERE e.store = $1 AND e.ix = c.ix AND e.cid = c.cid AND e.key = c.key AND e.did = c.did
            )
            """
        ) {
            $0.add(entries.map(\.index.number))
            $0.add(entries.map { $0.index.entryCollection($0.collection) })
            $0.add(keys)
            $0.add(entries.map(\.row))
        }
        return rows.map { Int($0.integer(0)) - 1 }.sorted()
    }

    func entryCount(of index: StoredIndex) throws -> Int {
        if case .search = index.kind {
            return try count(
                "SELECT count(DISTINCT did) FROM keel.words WHERE store = $1 AND ix = \(index.number)"
            )
        }
        return try count(
            "SELECT count(*) FROM keel.entries WHERE store = $1 AND ix = \(index.number)"
        )
    }

    private func count(_ sql: String) throws -> Int {
        Int(try snapshot.run(sql).first?.integer(0) ?? 0)
    }

    func loose() throws -> [(name: String, count: Int)] {
        let isLost =
            "NOT EXISTS (SELECT 1 FROM keel.documents d WHERE d.store = $1 AND d.did = e.did)"
        let isKept = """
            e.ix NOT IN (SELECT ix FROM keel.indexes WHERE store = $1 AND built = \(IndexBuild.dropped))
            """
        let hasNoPath =
            "NOT EXISTS (SELECT 1 FROM keel.collections c WHERE c.store = $1 AND c.cid = e.cid)"
        return [
            (
                "entries without a document",
                try count(
                    "SELECT count(*) FROM keel.entries e WHERE e.store = $1 AND \(isLost) AND \(isKept)"
                )
            ),
            (
                "words without a document",
                try count(
                    "SELECT count(*) FROM keel.words e WHERE e.store = $1 AND \(isLost) AND \(isKept)"
                )
            ),
            (
                "documents without a collection",
                try count(
                    "SELECT count(*) FROM keel.documents e WHERE e.store = $1 AND \(hasNoPath)"
                )
            ),
            (
                "changes without a collection",
                try count("SELECT count(*) FROM keel.changes e WHERE e.store = $1 AND \(hasNoPath)")
            ),
        ]
    }

    func historyStart() -> Int64? { tail.historyStart }

    func eachImage(_ take: (Result<Document?, StorageError>, _ time: Int64) throws -> Void) throws {
        _ = try snapshot.eachPage(expecting: nil) { count, last in
            try snapshot.run(
                """
                SELECT did, cid, id, rev, created, updated, body, time FROM keel.history
                WHERE store = $1 AND (time + 0) >= $3 AND ((time + 0), cid, id) > ($3, $4, $5)
                ORDER BY (time + 0), cid, id LIMIT $2
                """
            ) {
                $0.add(Int64(count))
                // Earlier images are those of a former history, which are still to be removed.
                $0.add(last?.integer(7) ?? tail.historyStart ?? .min)
                $0.add(last?.integer(1) ?? .min)
                $0.add(last?.bytes(2) ?? [])
            }
        } _: { row in
            try take(
                result { row.isNull(6) ? nil : try row.withStored { try snapshot.document($0) } },
                row.integer(7)
            )
            return true
        }
    }
}

extension PostgreSQLStorageAdapter {
    /// The result of ``checkIntegrity(onProgress:)``.
    public typealias IntegrityReport = KeelStorageAdapting.IntegrityReport

    /// Checks every document and past state, and the complete indexes against the documents.
    ///
    /// The call reads the whole store in one snapshot, on a connection of its own, and waits up to an hour for each
    /// answer. Writers can continue, but the server cannot clean up behind them before the check ends. Of a search,
    /// only the number of its documents is checked. For the server's own files, see `pg_amcheck`.
    ///
    /// - Parameter onProgress: Receives the number of checked documents, every thousand.
    /// - Returns: The problems, and the number of documents.
    /// - Throws: The error of a read that fails as a whole; damage is reported in the result.
    public func checkIntegrity(
        onProgress: (@Sendable (Int) -> Void)? = nil
    ) async throws(StorageError) -> IntegrityReport {
        do throws(StorageError) {
            return try await ConnectionThread.during(
                "keel.postgresql.check",
                pool.settings,
                answerLimit: .seconds(3600)
            ) { [store] connection in
                let snapshot = TableSnapshot(connection, store, remembers: false)
                return try connection.transaction(reading: snapshot) {
                    try IntegrityReport(
                        of: DatabaseTables(snapshot, $0.tail()),
                        onProgress: onProgress
                    )
                }
            }
        } catch {
            throw error.during("checkIntegrity")
        }
    }
}
#endif
