#if PostgreSQL
internal import KeelStorageAdapting

/// The row at which the next step of a resealing pass begins.
///
/// The steps hold the store's tail, so that no commit comes in between.
enum ResealPlace: Sendable {
    case documents(after: Int64)
    case history(collection: Int64, id: [UInt8], after: Int64)
    case receipts(from: [UInt8])

    static func renewProof(in snapshot: TableSnapshot) throws {
        let (store, sealing) = (snapshot.store.number, snapshot.sealing)
        let rows = try snapshot.run("SELECT proof FROM keel.stores WHERE store = $1")
        let proof = rows.first.flatMap { $0.isNull(0) ? nil : $0.bytes(0) }
        try sealing.check(proof) {
            try OpenStore.opensDocument(of: store, with: sealing, on: snapshot.connection)
        }
        guard let renewed = try sealing.renewed(proof) else { return }
        try snapshot.connection.run(OpenStore.proving(store, with: renewed))
    }

    /// Reseals the next rows; returns the place of the next step, nil after the last one.
    func step(in snapshot: TableSnapshot, _ report: inout ResealReport) throws -> ResealPlace? {
        let rows = try rows(in: snapshot)
        var updates: [DatabaseStatement] = []
        var size = 0
        for row in rows {
            size += row.buffer(2).count
            let new = try snapshot.sealing.reseal(
                row.bytes(2),
                as: context(of: row),
                counting: &report
            ) { try snapshot.opensProof() }
            if let new { updates.append(update(row, new, of: snapshot.store.number)) }
        }
        if !updates.isEmpty { try snapshot.connection.run(updates) }
        let isEnd =
            rows.count < BodySealing.itemsPerReseal && size < BodySealing.bytesPerReseal
        let last = isEnd ? nil : rows[rows.count - 1]
        switch self {
        case .documents:
            guard let last else { return .history(collection: .min, id: [], after: .min) }
            return .documents(after: last.integer(3))
        case .history:
            guard let last else { return .receipts(from: []) }
            return .history(
                collection: last.integer(0),
                id: last.bytes(1),
                after: last.integer(3)
            )
        case .receipts:
            // The first name after that of the last one.
            return last.map { .receipts(from: $0.bytes(1) + [0]) }
        }
    }

    /// Returns the next rows: collection, id, sealed bytes, number or time, path of the collection.
    private func rows(in snapshot: TableSnapshot) throws -> DatabaseRows {
        let joined = "JOIN keel.collections c ON c.store = r.store AND c.cid = r.cid"
        switch self {
        case .documents(let start):
            let rows = """
                SELECT r.cid, r.id, r.body, r.did, c.path FROM keel.documents r \(joined)
                WHERE r.store = $1 AND r.did > $2 ORDER BY r.did
                """
            return try snapshot.run(Self.limited(rows, by: "number")) { $0.add(start) }
        case .history(let collection, let id, let time):
            let rows = """
                SELECT r.cid, r.id, r.body, r.time, c.path FROM keel.history r \(joined)
                WHERE r.store = $1 AND (r.cid, r.id, r.time) > ($2, $3, $4) AND r.body IS NOT NULL
                ORDER BY r.cid, r.id, r.time
                """
            return try snapshot.run(Self.limited(rows, by: "cid, id, number")) {
                $0.add(collection)
                $0.add(id)
                $0.add(time)
            }
        case .receipts(let start):
            let rows = """
                SELECT 0::bigint, r.id, r.receipt, 0::bigint, ''::text FROM keel.receipts r
                WHERE r.store = $1 AND r.id >= $2 ORDER BY r.id
                """
            return try snapshot.run(Self.limited(rows, by: "id")) { $0.add(start) }
        }
    }

    /// Returns a query of the first row, and of those after it up to the size of a step.
    private static func limited(_ rows: String, by order: String) -> String {
        """
        SELECT cid, id, content, number, path FROM (
            SELECT step.*, sum(octet_length(content)) OVER (ORDER BY \(order))
                - octet_length(content) AS size_before
            FROM (\(rows) LIMIT \(BodySealing.itemsPerReseal))
                AS step(cid, id, content, number, path)
        ) AS sized
        WHERE size_before < \(BodySealing.bytesPerReseal) ORDER BY \(order)
        """
    }

    private func context(of row: DatabaseRow) -> String {
        if case .receipts = self { return "receipt/\(row.text(1))" }
        return DocumentPath(trusted: CollectionPath(trusted: row.text(4)), id: row.text(1)).string
    }

    private func update(_ row: DatabaseRow, _ new: [UInt8], of store: Int64) -> DatabaseStatement {
        switch self {
        case .documents:
            DatabaseStatement("UPDATE keel.documents SET body = $2 WHERE store = $1 AND did = $3") {
                $0.add(store)
                $0.add(new)
                $0.add(row.integer(3))
            }
        case .history:
            DatabaseStatement(
                """
                UPDATE keel.history SET body = $2
                WHERE store = $1 AND cid = $3 AND id = $4 AND time = $5
                """
            ) {
                $0.add(store)
                $0.add(new)
                $0.add(row.integer(0))
                $0.add(row.bytes(1))
                $0.add(row.integer(3))
            }
        case .receipts:
            DatabaseStatement("UPDATE keel.receipts SET receipt = $2 WHERE store = $1 AND id = $3")
            {
                $0.add(store)
                $0.add(new)
                $0.add(row.bytes(1))
            }
        }
    }
}
#endif
