#if PostgreSQL
internal import KeelStorageAdapting

/// Reads the tables in one transaction, in pages, so that the memory for answers of the server is bounded.
struct TableSnapshot {
    let connection: DatabaseConnection
    let store: OpenStore
    /// Whether the work ends with the cancellation of its task.
    let isCancellable: Bool
    /// Whether results may be cached; false if the transaction may still be rolled back.
    let remembers: Bool

    /// The columns of a document, in the order of ``DatabaseRow/withStored(keyLength:_:)``.
    static let columns = "d.did, d.cid, d.id, d.rev, d.created, d.updated, d.body"

    init(
        _ connection: DatabaseConnection,
        _ store: OpenStore,
        isCancellable: Bool = true,
        remembers: Bool = true
    ) {
        self.connection = connection
        self.store = store
        self.isCancellable = isCancellable
        self.remembers = remembers
    }

    var sealing: BodySealing { store.sealing }

    /// The cache of collections and indexes; empty behind a pooler.
    var catalog: StoreCatalog { connection.catalog ?? StoreCatalog() }

    func run(
        _ sql: String,
        _ add: (inout StatementArguments) -> Void = { _ in }
    ) throws -> DatabaseRows {
        try connection.run(
            DatabaseStatement(sql) {
                $0.add(store.number)
                add(&$0)
            }
        )
    }

    // MARK: Indexes

    func indexes(_ tail: StoreTail) throws -> IndexSet {
        if let known = catalog.indexes(of: tail.generation) { return known }
        let indexes = IndexSet(
            generation: tail.generation,
            all: try storedIndexes(),
            historyAge: tail.historyAge.map { .microseconds($0) }
        )
        if remembers { catalog.remember(indexes) }
        return indexes
    }

    func storedIndexes() throws -> [StoredIndex] {
        let rows = try run(
            """
            SELECT ix, definition, built FROM keel.indexes
            WHERE store = $1 AND (built IS NULL OR built <> \(IndexBuild.dropped)) ORDER BY ix
            """
        )
        return try rows.map { row in
            try StoredIndex(
                number: row.integer(0),
                definition: row.bytes(1),
                built: row.optional(2)
            )
        }
    }

    // MARK: Pages

    struct PageSize {
        /// The usual size of the largest first page.
        static let mostAtFirst = 128
        private static let most = 1_024
        private static let bytes = 4 << 20

        private(set) var count: Int

        init(expecting expected: Int?, upTo most: Int = mostAtFirst) {
            count = min(max(1, expected ?? 64), most)
        }

        mutating func advance(past bytes: Int) {
            let average = max(1, bytes / count)
            count = max(1, min(2 * count, Self.most, Self.bytes / average))
        }
    }

    /// Passes the rows of pages to `take` until it returns false; returns whether it never did.
    ///
    /// `page` returns at most a number of rows after the last one of the page before. `expected` rows will probably be
    /// taken, nil for all; `most` is the largest first page.
    ///
    /// - Throws: `StorageError/Code/cancelled`, and the errors of the closures.
    func eachPage(
        expecting expected: Int?,
        upTo most: Int = PageSize.mostAtFirst,
        _ page: (Int, DatabaseRow?) throws -> DatabaseRows,
        _ take: (DatabaseRow) throws -> Bool
    ) throws -> Bool {
        var size = PageSize(expecting: expected, upTo: most)
        var last: DatabaseRow?
        while true {
            let rows = try page(size.count, last)
            var bytes = 0
            for row in rows {
                if isCancellable, Task.isCancelled { throw StorageError.cancellation }
                bytes += row.isNull(6) ? 0 : row.buffer(6).count
                guard try take(row) else { return false }
            }
            guard rows.count == size.count else { return true }
            last = rows[rows.count - 1]
            size.advance(past: bytes)
        }
    }
}

extension DatabaseRow {
    /// Calls `body` with the document or image of the first seven columns.
    func withStored<Value>(
        keyLength: Int = 0,
        _ body: (borrowing StoredRow) throws -> Value
    ) rethrows -> Value {
        try body(
            StoredRow(
                number: integer(0),
                collection: integer(1),
                id: buffer(2),
                revision: integer(3),
                created: integer(4),
                updated: integer(5),
                body: isNull(6) ? nil : buffer(6),
                keyLength: keyLength
            )
        )
    }
}
#endif
