#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The proof in a file by which a store recognizes its key (``BodySealing``).
struct StoreProof {
    private static let mostTried = 1_000

    private let sealing: BodySealing
    private let database: Database

    init(_ sealing: BodySealing, in database: Database) {
        self.sealing = sealing
        self.database = database
    }

    func opensDocument() throws -> Bool {
        let reader = StoreReader(
            database: database,
            catalog: StoreCatalog(),
            sealing: sealing,
            remembers: false
        )
        let orders = [
            """
            changes c CROSS JOIN documents d ON d.cid = c.cid AND d.id = c.id
            ORDER BY c.seq DESC
            """,
            "documents d ORDER BY d.rid DESC",
        ]
        for order in orders {
            let statement = try RawStatement(
                database,
                "SELECT \(RawStatement.columns) FROM \(order) LIMIT \(Self.mostTried)"
            )
            let areAllClosed = try statement.eachRow { row in
                guard let collection = try? reader.path(of: row.collection) else { return true }
                let path = row.path(in: collection)
                return (try? row.document(at: path, openedBy: sealing)) == nil
            }
            if !areAllClosed { return true }
        }
        return false
    }

    /// Replaces the proof if it is not under the current key, so that its former key can be destroyed.
    ///
    /// - Throws: `StorageError/Code/permissionDenied` if the key is not available, and errors of the file.
    func renew() throws {
        // Usually there is nothing to change, and no lock is needed.
        guard try sealing.renewed(StoreFormat.meta(StoreFormat.proofKey, in: database)) != nil
        else { return }
        try database.inTransaction(.immediate) {
            try renewInTransaction()
            return .commit
        }
    }

    /// Does the same in the caller's write transaction.
    func renewInTransaction() throws {
        let proof = try StoreFormat.meta(StoreFormat.proofKey, in: database)
        try sealing.check(proof) { try opensDocument() }
        guard let renewed = try sealing.renewed(proof) else { return }
        try StoreFormat.setMeta(StoreFormat.proofKey, renewed, in: database)
    }
}
#endif
