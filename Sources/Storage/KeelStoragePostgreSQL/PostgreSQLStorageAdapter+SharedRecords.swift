#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

/// The records are in a table without a write-ahead log: writing one waits for no disk and no standby, and a crash of
/// the database server or a promotion removes all of them.
extension PostgreSQLStorageAdapter: SharedRecords {
    /// The number and the total bytes of a store's records.
    private static var mostRecords: Int { 10_000 }
    private static var mostRecordBytes: Int { 256 << 20 }
    /// The number of attempts to add a record between two checks of the limits by an adapter.
    private static var recordsBetweenChecks: Int64 { 64 }

    private static var now: String { "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint" }

    public var sharedRecords: (any SharedRecords)? { self }

    public func sharedRecord(_ key: String) async throws(StorageError) -> SharedRecord? {
        try await onRecords { [store] connection in
            try Self.record(key, of: store, on: connection)
        }
    }

    private static func record(
        _ key: String,
        of store: OpenStore,
        on connection: DatabaseConnection
    ) throws -> SharedRecord? {
        let statement = DatabaseStatement(
            """
            SELECT content, version, \(now) - created FROM keel.records
            WHERE store = $1 AND key = $2 AND expires > \(now)
            """
        ) {
            $0.add(store.number)
            $0.add(key.utf8)
        }
        return try connection.run(statement).first.map { row in
            SharedRecord(
                content: try store.sealing.open(row.bytes(0), as: context(of: key)),
                version: row.integer(1),
                age: .microseconds(max(0, row.integer(2)))
            )
        }
    }

    public func replaceSharedRecord(
        _ key: String,
        at version: Int64?,
        with content: [UInt8],
        keptFor duration: Duration
    ) async throws(StorageError) -> Bool {
        if version == nil { try await removeSurplusRecords() }
        let sql =
            if version == nil {
                // An expired record of the same key no longer exists for its readers.
                """
                INSERT INTO keel.records AS r(store, key, content, expires, version, created)
                VALUES ($1, $2, $3, \(Self.now) + $4, 1, \(Self.now))
                ON CONFLICT (store, key) DO UPDATE SET content = excluded.content,
                    expires = excluded.expires, version = r.version + 1, created = excluded.created
                WHERE r.expires <= \(Self.now)
                RETURNING 1
                """
            } else {
                """
                UPDATE keel.records SET content = $3, expires = \(Self.now) + $4, version = version + 1
                WHERE store = $1 AND key = $2 AND version = $5 AND expires > \(Self.now)
                RETURNING 1
                """
            }
        let isSent = Mutex(false)
        return try await onRecords { [store] connection in
            let sealed = try store.sealing.seal(content, as: Self.context(of: key))
            let statement = DatabaseStatement(sql) {
                $0.add(store.number)
                $0.add(key.utf8)
                $0.add(sealed)
                $0.add(duration.microseconds)
                if let version { $0.add(version) }
            }
            // This runs again if the connection was lost.
            let isRepeated = isSent.withLock { isSent -> Bool in
                defer { isSent = true }
                return isSent
            }
            if try connection.run(statement).first != nil { return true }
            guard isRepeated else { return false }
            // The statement may have taken effect before its answer was lost; the record then has the content.
            let found = try Self.record(key, of: store, on: connection)
            guard let found, found.content == content else { return false }
            return version.map { found.version == $0 + 1 } ?? true
        }
    }

    public func removeSharedRecord(_ key: String) async throws(StorageError) {
        try await onRecords { [store] connection in
            _ = try connection.run(
                DatabaseStatement("DELETE FROM keel.records WHERE store = $1 AND key = $2") {
                    $0.add(store.number)
                    $0.add(key.utf8)
                }
            )
        }
    }

    /// Removes the expired records, and above the limits those that expire first.
    ///
    /// Each group of keys keeps its last record before any keeps its last but one. Above the limit of bytes, the
    /// largest groups lose records first, so that one caller's do not displace those of others.
    private func removeSurplusRecords() async throws(StorageError) {
        let count = addedRecords.add(1, ordering: .relaxed).oldValue
        guard count % Self.recordsBetweenChecks == 0 else { return }
        let sql = """
            DELETE FROM keel.records WHERE store = $1 AND key = ANY (ARRAY(
                SELECT key FROM keel.records WHERE store = $1 AND expires <= \(Self.now)
                UNION ALL
                SELECT key FROM (
                    SELECT key, row_number() OVER (ORDER BY turn, expires DESC) AS place,
                        sum(bytes) OVER (
                            ORDER BY held, expires DESC ROWS UNBOUNDED PRECEDING) AS size
                    FROM (
                        SELECT key, expires, octet_length(content) AS bytes,
                            row_number() OVER latest AS turn,
                            sum(octet_length(content)) OVER latest AS held
                        FROM keel.records WHERE store = $1 AND expires > \(Self.now)
                        WINDOW latest AS (
                            PARTITION BY regexp_replace(encode(key, 'escape'), '[^/]*$', '')
                            ORDER BY expires DESC ROWS UNBOUNDED PRECEDING)
                    ) grouped
                ) r
                WHERE place > \(Self.mostRecords) OR size > \(Self.mostRecordBytes)))
            """
        try await onRecords { [store] connection in
            _ = try connection.run(DatabaseStatement(sql) { $0.add(store.number) })
        }
    }

    private static func context(of key: String) -> String { "record/" + key }

    private func onRecords<Value: Sendable>(
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        do throws(StorageError) {
            return try await pool.reading(isQuick: true, work)
        } catch {
            throw error.during("shared record")
        }
    }
}
#endif
