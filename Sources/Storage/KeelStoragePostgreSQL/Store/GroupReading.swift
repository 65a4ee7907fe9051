#if PostgreSQL
internal import KeelStorageAdapting

struct GroupReading {
    private let store: OpenStore
    private let connection: DatabaseConnection
    private let paths: [DocumentPath]
    private let ids: [String]
    private let names: [String]

    init(_ batches: [WriteBatch], of store: OpenStore, on connection: DatabaseConnection) {
        self.store = store
        self.connection = connection
        var paths: [DocumentPath] = []
        var known = Set<DocumentPath>(minimumCapacity: batches.count)
        func add(_ path: DocumentPath) {
            if known.insert(path).inserted { paths.append(path) }
        }
        for batch in batches {
            for write in batch.writes { add(write.path) }
            for read in batch.reads?.documents ?? [] { add(read.path) }
        }
        self.paths = paths
        ids = batches.compactMap(\.id)
        names = batches.compactMap { $0.origin?.client }
    }

    var statements: [DatabaseStatement] {
        var statements = [store.tailStatement(isLocking: true), documentStatement]
        if !ids.isEmpty {
            statements.append(
                DatabaseStatement(
                    "SELECT id, receipt, mark FROM keel.receipts WHERE store = $1 AND id = ANY ($2)"
                ) {
                    $0.add(store.number)
                    $0.add(names: ids)
                }
            )
        }
        if !names.isEmpty {
            statements.append(
                DatabaseStatement(
                    "SELECT name, number, mutation FROM keel.clients WHERE store = $1 AND name = ANY ($2)"
                ) {
                    $0.add(store.number)
                    $0.add(names: names)
                }
            )
        }
        return statements
    }

    private var documentStatement: DatabaseStatement {
        // A document's number tells whether it exists; its last removal counts only if it does not.
        DatabaseStatement(
            """
            SELECT p.n, c.cid, d.did, d.rev, d.created, d.updated, d.body, r.time
            \(TableSnapshot.paths)
            LEFT JOIN LATERAL (
                SELECT did, rev, created, updated, body FROM keel.documents
                WHERE store = $1 AND cid = c.cid AND id = p.id LIMIT 1
            ) d ON true
            LEFT JOIN LATERAL (
                SELECT coalesce(time, seq) AS time FROM keel.changes
                WHERE d.did IS NULL AND removed AND store = $1 AND cid = c.cid AND id = p.id
                ORDER BY seq DESC LIMIT 1
            ) r ON true
            """
        ) {
            let numbers = paths.map { connection.catalog?.number(of: $0.collection) }
            $0.add(store.number)
            $0.add(numbers)
            // The path of a collection with a known number is not needed.
            $0.add(zip(paths, numbers).map { $1 == nil ? Array($0.collection.string.utf8) : [] })
            $0.add(names: paths.map(\.id))
        }
    }

    func documents(
        _ rows: DatabaseRows
    ) throws -> [(path: DocumentPath, stored: (stored: CommitDraft.Stored, body: [UInt8]?))] {
        rows.map { row in
            let path = paths[Int(row.integer(0)) - 1]
            var stored = CommitDraft.Stored(collection: row.optional(1), row: row.optional(2))
            guard stored.row != nil else {
                stored.removalTime = row.optional(7).map(Timestamp.init(microseconds:))
                return (path, (stored, nil))
            }
            let sealed = row.bytes(6)
            var body = DocumentBody(bytes: [])
            do throws(StorageError) {
                body = try store.sealing.open(sealed, of: path)
            } catch {
                stored.failure = error
            }
            stored.document = Document(
                path: path,
                body: body,
                revision: Revision(number: row.integer(3)),
                createTime: Timestamp(microseconds: row.integer(4)),
                updateTime: Timestamp(microseconds: row.integer(5))
            )
            return (path, (stored, sealed))
        }
    }

    func receipts(_ rows: ArraySlice<DatabaseRows>) throws -> [[UInt8]: CommitReceipt] {
        guard !ids.isEmpty, let rows = rows.first else { return [:] }
        var receipts: [[UInt8]: CommitReceipt] = [:]
        for row in rows {
            let id = row.text(0)
            let bytes = try store.sealing.open(row.bytes(1), as: "receipt/\(id)")
            receipts[Array(id.utf8)] = try StoredReceipt.decoded(bytes, id: id) { sequence in
                store.cursor(LogPoint(sequence, mark: row.integer(2)))
            }
        }
        return receipts
    }

    func clients(_ rows: ArraySlice<DatabaseRows>) -> [[UInt8]: (number: Int64, mutation: Int64)] {
        guard !names.isEmpty, let rows = rows.last else { return [:] }
        var clients: [[UInt8]: (number: Int64, mutation: Int64)] = [:]
        for row in rows { clients[row.bytes(0)] = (row.integer(1), row.integer(2)) }
        return clients
    }
}
#endif
