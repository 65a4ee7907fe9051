#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting

/// A store of a database, as an adapter knows it for its whole life.
final class OpenStore: Sendable {
    let number: Int64
    let name: String
    let epoch: UInt64
    let sealing: BodySealing
    /// The adapter, in the rows of `groups`.
    let instance: [UInt8] = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    /// Whether the store keeps a history after its opening.
    let keepsHistory: Bool
    private let now: (@Sendable () -> Timestamp)?

    init(
        _ configuration: PostgreSQLStorageAdapter.Configuration,
        on connection: DatabaseConnection
    ) throws {
        guard (1...StoredName.longest).contains(configuration.store.utf8.count) else {
            throw StorageError(
                .invalidArgument,
                "the name of a store has 1 to \(StoredName.longest) bytes"
            )
        }
        if !configuration.createsStore { try Self.check(configuration.store, on: connection) }
        try StoreTables.create(connection)
        let sealing = BodySealing(sealing: configuration.sealing)
        let proof = try sealing.newProof()
        let epoch = Int64.random(in: .min ... .max)
        let rows = try connection.run(
            Self.opening(configuration.store, epoch: epoch, proof: proof)
        )
        guard let row = rows[1].first else { throw StorageError.removedStore }
        let tail = StoreTail(row, from: 3)
        try connection.check(tables: tail.tables)
        try tail.checkFormat()
        let number = row.integer(0)
        let found = row.isNull(2) ? nil : row.bytes(2)
        try sealing.check(found) {
            try Self.opensDocument(of: number, with: sealing, on: connection)
        }
        // Nothing depends on it now: after a failure, the next opening does it.
        if let renewed = try? sealing.renewed(found) {
            _ = try? connection.run(Self.proving(number, with: renewed))
        }
        (self.number, name, self.sealing) = (number, configuration.store, sealing)
        self.epoch = UInt64(bitPattern: row.integer(1))
        now = configuration.now
        keepsHistory = try Self.keepHistory(configuration.history, of: number, tail, on: connection)
    }

    init(number: Int64, name: String = "default", epoch: UInt64) {
        (self.number, self.name, self.epoch) = (number, name, epoch)
        sealing = BodySealing(sealing: nil)
        (now, keepsHistory) = (nil, true)
    }

    static func opening(_ name: String, epoch: Int64, proof: [UInt8]?) -> [DatabaseStatement] {
        [
            DatabaseStatement(
                """
                INSERT INTO keel.stores(name, format, epoch, proof)
                SELECT $1, $2, $3, $4
                WHERE NOT EXISTS (SELECT 1 FROM keel.stores WHERE name = $1)
                ON CONFLICT (name) DO NOTHING
                """
            ) {
                $0.add(name.utf8)
                $0.add(StoreTables.format)
                $0.add(epoch)
                if let proof { $0.add(proof) } else { $0.addNull() }
            },
            DatabaseStatement(
                "SELECT store, epoch, proof, \(StoreTail.columns) FROM keel.stores WHERE name = $1"
            ) { $0.add(name.utf8) },
        ]
    }

    /// The statement that returns ``StoreTail/tables``, and no row if the number belongs to another store.
    var nameStatement: DatabaseStatement {
        DatabaseStatement(
            "SELECT tableoid::bigint FROM keel.stores WHERE store = $1 AND name = $2"
        ) {
            $0.add(self.number)
            $0.add(self.name.utf8)
        }
    }

    static func proving(_ store: Int64, with proof: [UInt8]) -> DatabaseStatement {
        DatabaseStatement("UPDATE keel.stores SET proof = $2 WHERE store = $1") {
            $0.add(store)
            $0.add(proof)
        }
    }

    /// Returns whether the key opens one of the last written documents, or of the newest ones.
    static func opensDocument(
        of store: Int64,
        with sealing: BodySealing,
        on connection: DatabaseConnection
    ) throws -> Bool {
        let orders = [
            """
            (SELECT cid, id FROM keel.changes WHERE store = $1 ORDER BY seq DESC LIMIT 100) n
            JOIN keel.documents d ON d.store = $1 AND d.cid = n.cid AND d.id = n.id
            """,
            "(SELECT * FROM keel.documents WHERE store = $1 ORDER BY did DESC LIMIT 100) d",
        ]
        for order in orders {
            let sql = """
                SELECT c.path, d.id, d.body FROM \(order)
                JOIN keel.collections c ON c.store = $1 AND c.cid = d.cid
                """
            let rows = try connection.run(DatabaseStatement(sql) { $0.add(store) })
            let isOpened = rows.contains { row in
                let collection = CollectionPath(trusted: row.text(0))
                let path = DocumentPath(trusted: collection, id: row.text(1))
                return (try? sealing.open(row.bytes(2), of: path)) != nil
            }
            if isOpened { return true }
        }
        return false
    }

    /// - Throws: `StorageError/Code/invalidArgument` if the database does not have a store.
    private static func check(_ name: String, on connection: DatabaseConnection) throws {
        let hasTables = try connection.run(
            DatabaseStatement("SELECT to_regclass('keel.stores') IS NOT NULL")
        ).first?.boolean(0)
        if hasTables == true {
            let rows = try connection.run(
                DatabaseStatement("SELECT 1 FROM keel.stores WHERE name = $1") { $0.add(name.utf8) }
            )
            if rows.first != nil { return }
        }
        throw StorageError(.invalidArgument, "the database has no Keel store “\(name)”")
    }

    func time(_ tail: StoreTail) -> Timestamp { now?() ?? Timestamp(microseconds: tail.clock) }

    func cursor(_ point: LogPoint) -> ChangeCursor {
        ChangePosition(epoch: epoch, .log(point)).cursor
    }

    /// Sets the age of a store's history; zero removes the history, nil changes nothing.
    ///
    /// - Returns: Whether the store keeps a history.
    private static func keepHistory(
        _ age: Duration?,
        of store: Int64,
        _ tail: StoreTail,
        on connection: DatabaseConnection
    ) throws -> Bool {
        guard let age else { return tail.historyAge != nil }
        guard age > .zero else {
            guard tail.historyAge != nil else { return false }
            // Commits remove the images, in steps.
            try connection.run(
                DatabaseStatement(
                    """
                    UPDATE keel.stores
                    SET history_age = NULL, history_start = NULL, generation = generation + 1 WHERE store = $1
                    """
                ) { $0.add(store) }
            )
            return false
        }
        guard tail.historyAge != age.microseconds else { return true }
        try connection.run(
            DatabaseStatement(
                """
                UPDATE keel.stores SET
                    history_age = $2, history_start = coalesce(history_start, seq), generation = generation + 1
                WHERE store = $1
                """
            ) {
                $0.add(store)
                $0.add(age.microseconds)
            }
        )
        return true
    }
}

extension StoreTail {
    /// - Throws: `StorageError/Code/schemaTooNew` for a store of a later version.
    func checkFormat() throws(StorageError) {
        guard format > StoreTables.format else { return }
        throw StorageError(
            .schemaTooNew,
            "the store has format \(format); this version of Keel knows up to \(StoreTables.format)"
        )
    }
}
#endif
