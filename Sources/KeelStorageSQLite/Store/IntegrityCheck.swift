#if SQLite
internal import GRDB
internal import KeelStorage

/// Compares what a store's file holds with what it should hold.
struct IntegrityCheck {
    let reader: StoreReader
    private var problems: [String] = []

    init(reader: StoreReader) { self.reader = reader }

    mutating func run() throws -> SQLiteStorageAdapter.IntegrityReport {
        let database = reader.database
        let found = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
        if found != ["ok"] { problems += found.map { "SQLite: \($0)" } }
        let indexes = try reader.indexes(StoreState(database).generation).all
        var expected = Array(repeating: 0, count: indexes.count)
        let count = try checkDocuments(indexes, &expected)
        for (index, expected) in zip(indexes, expected) where index.built == nil {
            try checkCount(of: index, expected)
        }
        try checkReferences()
        try checkHistory()
        return SQLiteStorageAdapter.IntegrityReport(problems: problems, documentCount: count)
    }

    private mutating func checkDocuments(
        _ indexes: [StoredIndex],
        _ expected: inout [Int]
    ) throws -> Int {
        var count = 0
        let lastChange = try StoreState.sequence(in: reader.database)
        let statements = WriteStatements(reader.database)
        let statement = try RawStatement(
            reader.database,
            "SELECT \(StoreReader.columns) FROM documents d ORDER BY d.rid"
        )
        try statement.each { row in
            count += 1
            let document: Document
            do {
                document = try reader.document(row)
                _ = try document.fields()
            } catch let error as StorageError {
                problems.append(error.message)
                return true
            }
            if lastChange == 0 { problems.append("there are documents and no change log") }
            let writer = IndexWriter(
                statements: statements,
                sealing: reader.sealing,
                path: document.path,
                collection: row.integer(1),
                row: row.integer(0)
            )
            for (position, index) in indexes.enumerated()
            where StoredName.same(index.collection, document.path.collection.name) {
                expected[position] += try entries(of: document, in: index, writer)
            }
            return true
        }
        return count
    }

    /// Checks that the entries of a document are there, and returns how many it should have.
    private mutating func entries(
        of document: Document,
        in index: StoredIndex,
        _ writer: IndexWriter
    ) throws -> Int {
        guard case .fields = index.kind else {
            return index.texts(of: document.body).contains { !$0.isEmpty } ? 1 : 0
        }
        let keys = index.keys(of: document.body)
        for key in keys where index.built == nil {
            let statement = try RawStatement(
                reader.database,
                "SELECT 1 FROM entries WHERE ix = ? AND cid = ? AND key = ? AND rid = ?"
            )
            try statement.bind(1, index.number)
            try statement.bind(2, index.entryCollection(writer.collection))
            try statement.bind(3, try writer.entryKey(key, in: index))
            try statement.bind(4, writer.row)
            guard try statement.first({ _ in true }) == nil else { continue }
            problems.append("the index \(index.number) lacks an entry of “\(document.path)”")
        }
        return keys.count
    }

    private mutating func checkCount(of index: StoredIndex, _ expected: Int) throws {
        let sql: String
        if case .search = index.kind {
            sql = "SELECT count(*) FROM \(index.searchTable)"
        } else {
            sql = "SELECT count(*) FROM entries WHERE ix = \(index.number)"
        }
        let count = try Int.fetchOne(reader.database, sql: sql) ?? 0
        guard count != expected else { return }
        problems.append("the index \(index.number) has \(count) entries instead of \(expected)")
    }

    private mutating func checkReferences() throws {
        let checks = [
            (
                "entries without a document",
                """
                SELECT count(*) FROM entries WHERE rid NOT IN (SELECT rid FROM documents)
                AND ix NOT IN (SELECT ix FROM indexes WHERE built = \(IndexBuild.dropped))
                """
            ),
            (
                "documents without a collection",
                "SELECT count(*) FROM documents WHERE cid NOT IN (SELECT cid FROM collections)"
            ),
            (
                "changes without a collection",
                "SELECT count(*) FROM changes WHERE cid NOT IN (SELECT cid FROM collections)"
            ),
        ]
        for (name, sql) in checks {
            let count = try Int.fetchOne(reader.database, sql: sql) ?? 0
            if count > 0 { problems.append("there are \(count) \(name)") }
        }
    }

    /// Checks that what documents were can still be read.
    private mutating func checkHistory() throws {
        guard let history = try StoredHistory(reader.database) else { return }
        let statement = try RawStatement(
            reader.database,
            "SELECT \(StorePast.columns), time FROM history ORDER BY number"
        )
        var last = history.start
        try statement.each { row in
            do {
                _ = try StorePast.document(row, reader)?.fields()
            } catch let error as StorageError {
                problems.append("in the history: \(error.message)")
            }
            let time = row.integer(8)
            if time < last { problems.append("the history is not in the order of its times") }
            last = time
            return true
        }
    }
}
#endif
