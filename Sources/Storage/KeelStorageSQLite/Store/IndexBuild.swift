#if SQLite
internal import GRDB
internal import KeelStorageAdapting
internal import Synchronization

/// A build of the declared indexes that are incomplete, one step per transaction.
///
/// The column `built` of `indexes` holds the progress of an index: the last row that has been indexed, null for a
/// complete index, and ``dropped`` for one whose entries are being removed. Several builders, in one or several
/// processes, share the work: each step begins with the state in the file.
struct IndexBuild: Sendable {
    /// Stands for a row: the index is no longer maintained, and is removed after its entries.
    static let dropped: Int64 = -1
    private static let documentsPerStep: Int64 = 1_000
    /// The approximate number of bytes of documents that one step reads.
    private static let bytesPerStep = 4 << 20
    /// The number of entries of a dropped index that one step removes.
    private static let entriesPerStep: Int64 = 10_000

    /// The indexes that cover an unreadable document.
    ///
    /// If completed without it, they would hide it even after it becomes readable. Until it is readable, replaced or
    /// removed, queries scan and report it.
    private var heldUp: Set<Int64> = []

    // MARK: Declaring and dropping

    /// Adds a definition that the file lacks.
    static func declare(_ kind: StoredIndex.Kind, in database: Database) throws {
        let definition = kind.encoded
        let statement = try RawStatement(
            database,
            """
            INSERT INTO indexes(name, definition, built) VALUES (?, ?, 0) ON CONFLICT DO NOTHING
            """
        )
        try statement.bind(1, kind.name)
        try statement.bind(2, definition)
        try statement.run()
        guard case .search = kind, database.changesCount > 0 else { return }
        let number = database.lastInsertedRowID
        let index = try StoredIndex(number: number, definition: definition, built: 0)
        try index.createSearchTable(in: database)
    }

    /// Hides an index from queries and writers; ``removeDropped(in:)`` removes its entries.
    static func drop(_ kind: StoredIndex.Kind, in database: Database) throws {
        let definition = kind.encoded
        if case .search = kind {
            let number = try RawStatement(database, "SELECT ix FROM indexes WHERE definition = ?")
            try number.bind(1, definition)
            guard let number = try number.first({ $0.integer(0) }) else { return }
            let index = try StoredIndex(number: number, definition: definition, built: 0)
            try database.execute(sql: "DROP TABLE IF EXISTS \(index.searchTable)")
        }
        let sql =
            if case .search = kind {
                "DELETE FROM indexes WHERE definition = ?"
            } else {
                "UPDATE indexes SET built = \(dropped) WHERE definition = ?"
            }
        let statement = try RawStatement(database, sql)
        try statement.bind(1, definition)
        try statement.run()
    }

    /// Removes some entries of a dropped index, and finally its definition.
    ///
    /// - Returns: Whether there is more to do.
    static func removeDropped(in database: Database) throws -> Bool {
        let open = try RawStatement(
            database,
            "SELECT ix FROM indexes WHERE built = \(dropped) ORDER BY ix LIMIT 1"
        )
        guard let number = try open.first({ $0.integer(0) }) else { return false }
        let entries = try RawStatement(
            database,
            """
            DELETE FROM entries WHERE (ix, cid, key, rid) IN (
                SELECT ix, cid, key, rid FROM entries WHERE ix = ? LIMIT \(entriesPerStep))
            """
        )
        try entries.bind(1, number)
        try entries.run()
        if database.changesCount == entriesPerStep { return true }
        let definition = try RawStatement(database, "DELETE FROM indexes WHERE ix = ?")
        try definition.bind(1, number)
        try definition.run()
        return true
    }

    // MARK: Building

    private struct Open {
        let index: StoredIndex
        var built: Int64
    }

    /// Writes the entries of some documents for the indexes with the least progress.
    ///
    /// - Returns: Whether there is more to do.
    mutating func step(in database: Database, for adapter: SQLiteStorageAdapter) throws -> Bool {
        if try Self.removeDropped(in: database) { return true }
        let reader = adapter.reader(database, remembers: false)
        let open = try reader.storedIndexes().compactMap { index in
            index.built.map { Open(index: index, built: $0) }
        }.filter { !heldUp.contains($0.index.number) }
        guard let start = open.map(\.built).min() else { return false }
        var group = open.filter { $0.built == start }
        // Indexes with more progress join when the others have caught up.
        let end = open.map(\.built).filter { $0 > start }.min() ?? .max
        let statement = try RawStatement(
            database,
            """
            SELECT \(RawStatement.columns) FROM documents d
            WHERE d.rid > ? AND d.rid <= ? ORDER BY d.rid LIMIT \(Self.documentsPerStep)
            """
        )
        try statement.bind(1, start)
        try statement.bind(2, end)
        let statements = WriteStatements(database)
        var count: Int64 = 0
        var size = AnswerSize(most: Self.bytesPerStep)
        var isStopped = false
        try statement.eachRow { row in
            // Cancellation keeps the entries written so far.
            isStopped = size.isFull || Task.isCancelled
            if isStopped { return false }
            count += 1
            if let document = try add(row, to: &group, with: statements, reader, adapter) {
                size.add(document)
            }
            return true
        }
        try statements.finishEntries()
        let isAtEnd = count < Self.documentsPerStep && !isStopped
        for open in group {
            if heldUp.contains(open.index.number) {
                try Self.note(open.built, of: open.index, in: database)
            } else if isAtEnd, end == .max {
                try Self.note(nil, of: open.index, in: database)
            } else {
                try Self.note(isAtEnd ? end : open.built, of: open.index, in: database)
            }
        }
        return true
    }

    /// Writes the entries of one document.
    ///
    /// - Returns: The document, if it was read.
    private mutating func add(
        _ row: borrowing StoredRow,
        to group: inout [Open],
        with statements: WriteStatements,
        _ reader: StoreReader,
        _ adapter: SQLiteStorageAdapter
    ) throws -> Document? {
        let (number, collection) = (row.number, row.collection)
        let name = try reader.path(of: collection).name
        var content: Result<Document, StorageError>?
        for position in group.indices {
            let index = group[position].index
            if heldUp.contains(index.number) { continue }
            guard StoredName.same(name, index.collection) else {
                group[position].built = number
                continue
            }
            // Read once, and only if an index covers it.
            let known = try content ?? Self.content(of: row, reader, adapter)
            content = known
            switch known {
            case .success(let document):
                let writer = IndexWriter(
                    statements: statements,
                    sealing: reader.sealing,
                    path: document.path,
                    collection: collection,
                    row: number
                )
                if case .search = index.kind {
                    try index.deleteTexts(row: number, in: statements.database)
                }
                try writer.replace(nil, by: document.body, in: index)
                group[position].built = number
            case .failure:
                // A text search cannot scan, so it is built without the document.
                if case .search = index.kind {
                    group[position].built = number
                } else {
                    heldUp.insert(index.number)
                }
            }
        }
        if case .success(let document)? = content { return document }
        return nil
    }

    private static func content(
        of row: borrowing StoredRow,
        _ reader: StoreReader,
        _ adapter: SQLiteStorageAdapter
    ) throws -> Result<Document, StorageError> {
        do {
            return .success(try reader.document(row))
        } catch let error as StorageError {
            // With a wrong key, no document can be read.
            guard try adapter.opensProof(in: reader.database) else { throw error }
            return .failure(error)
        }
    }

    private static func note(
        _ built: Int64?,
        of index: StoredIndex,
        in database: Database
    ) throws {
        guard let built else {
            let statement = try RawStatement(
                database,
                "UPDATE indexes SET built = NULL WHERE ix = ?"
            )
            try statement.bind(1, index.number)
            try statement.run()
            // Progress does not affect queries; completion does.
            try StoreState.advanceGeneration(in: database)
            return
        }
        let statement = try RawStatement(database, "UPDATE indexes SET built = ? WHERE ix = ?")
        try statement.bind(1, built)
        try statement.bind(2, index.number)
        try statement.run()
    }
}

/// Builds indexes while an adapter is used, in a task that ends with the adapter.
final class IndexBuilding: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Whether a declaration has been added that the task may have missed.
        var isWanted = false
        var isEnded = false
    }

    private let state = Mutex(State())

    deinit { end() }

    func begin(for adapter: SQLiteStorageAdapter) {
        state.withLock { state in
            state.isWanted = true
            guard state.task == nil, !state.isEnded else { return }
            state.task = Task(priority: .utility) { [weak self, weak adapter] in
                while self?.isWantedAgain() == true {
                    var build = IndexBuild()
                    // The next preparation repeats a failed step and throws its error.
                    while !Task.isCancelled, let adapter,
                        (try? await adapter.advance(&build)) == true
                    {}
                }
            }
        }
    }

    private func isWantedAgain() -> Bool {
        state.withLock { state in
            if !state.isWanted { state.task = nil }
            return state.isWanted.take()
        }
    }

    /// Waits until nothing is being built.
    func wait() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }

    func end() {
        let task = state.withLock { state in
            state.isEnded = true
            return state.task.take()
        }
        task?.cancel()
    }
}

extension Bool {
    /// Returns the value and sets it to false.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
#endif
