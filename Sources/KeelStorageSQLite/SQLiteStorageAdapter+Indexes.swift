#if SQLite
internal import GRDB
public import KeelStorage

extension SQLiteStorageAdapter {
    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        do throws(StorageError) {
            guard schema.searches.isEmpty || allowsTextSearch else {
                throw StorageError(
                    .unsupported,
                    "text search would write words in the clear into an encrypted store; set "
                        + "allowsSearchableText if that is acceptable"
                )
            }
            let wanted =
                schema.indexes.map(StoredIndex.Kind.fields)
                + schema.searches.map(StoredIndex.Kind.search)
            let open = try await unfinished(of: wanted.map { ($0, $0.encoded) })
            // A store that is only read answers by scans what its indexes do not cover.
            guard !open.isEmpty, !configuration.isReadOnly else { return }
            try await declare(open)
            for (_, definition) in open { try await build(definition) }
        } catch {
            throw error.during("prepare")
        }
    }

    private typealias Declaration = (kind: StoredIndex.Kind, definition: [UInt8])

    private func unfinished(of wanted: [Declaration]) async throws(StorageError) -> [Declaration] {
        guard !wanted.isEmpty else { return [] }
        let indexes = try await whileBusy {
            try readSnapshot { try $0.indexes(StoreState($0.database).generation) }
        }
        let ready = Set(indexes.all.filter { $0.built == nil }.map(\.definition))
        return wanted.filter { !ready.contains($0.definition) }
    }

    /// Writes the definitions into the file; from then on every writer maintains them.
    private func declare(_ declarations: [Declaration]) async throws(StorageError) {
        try await maintaining { database in
            for (kind, definition) in declarations {
                let statement = try RawStatement(
                    database,
                    """
                    INSERT INTO indexes(name, definition, built) VALUES (?, ?, 0)
                    ON CONFLICT DO NOTHING
                    """
                )
                try statement.bind(1, kind.name)
                try statement.bind(2, definition)
                try statement.run()
                guard case .search = kind, database.changesCount > 0 else { continue }
                let index = try StoredIndex(
                    number: database.lastInsertedRowID,
                    definition: definition,
                    built: 0
                )
                try index.createSearchTable(in: database)
            }
            try StoreState.advanceGeneration(in: database)
        }
    }

    /// Makes the entries of the documents that were there before the definition.
    ///
    /// It goes in steps, so that other writers get their turn, and remembers in the file how far it
    /// has come: whoever prepares the store next goes on from there.
    private func build(_ definition: [UInt8]) async throws(StorageError) {
        while try await maintaining({ database in try buildStep(definition, database) }) {
            await Task.yield()
        }
    }

    /// - Returns: Whether there is more to do.
    private func buildStep(_ definition: [UInt8], _ database: Database) throws -> Bool {
        let reader = reader(database, remembers: false)
        let indexes = try reader.indexes(StoreState(database).generation)
        // Read anew: the set of indexes does not follow the progress.
        let progress = try RawStatement(database, "SELECT built FROM indexes WHERE definition = ?")
        try progress.bind(1, definition)
        guard let index = indexes.all.first(where: { $0.definition == definition }),
            let built = try progress.first({ $0.isNull(0) ? nil : $0.integer(0) }) ?? nil
        else { return false }
        let statement = try RawStatement(
            database,
            """
            SELECT \(StoreReader.columns) FROM documents d
            WHERE d.rid > ? ORDER BY d.rid LIMIT 1000
            """
        )
        try statement.bind(1, built)
        let statements = WriteStatements(database)
        var last: Int64?
        var isHeldUp = false
        try statement.each { row in
            let number = row.integer(0)
            guard StoredName.same(try reader.path(of: row.integer(1)).name, index.collection) else {
                last = number
                return true
            }
            let document: Document
            do {
                document = try reader.document(row)
            } catch let error as StorageError {
                // With a wrong key nothing can be read.
                guard try opensProof(in: database) else { throw error }
                // Without this document the index would hide it, also once it can be read again. Until
                // it is readable, replaced or removed, queries scan and name it. A text search cannot
                // scan, and goes without it.
                guard case .search = index.kind else {
                    isHeldUp = true
                    return false
                }
                last = number
                return true
            }
            last = number
            let writer = IndexWriter(
                statements: statements,
                sealing: sealing,
                path: document.path,
                collection: row.integer(1),
                row: number
            )
            if case .search = index.kind { try index.deleteTexts(row: number, in: database) }
            try writer.replace(nil, by: document.body, in: index)
            return true
        }
        try statements.finishEntries()
        if isHeldUp, last == nil { return false }
        try Self.note(last, of: index.number, in: database)
        return last != nil && !isHeldUp
    }

    /// Whether the store's key is at hand, and opens what it has sealed.
    private func opensProof(in database: Database) throws -> Bool {
        guard let sealing = configuration.sealing else { return true }
        return StoreOpening.isProof(try StoreFormat.meta("seal", in: database), for: sealing)
    }

    private static func note(_ built: Int64?, of index: Int64, in database: Database) throws {
        guard let built else {
            let statement = try RawStatement(
                database,
                "UPDATE indexes SET built = NULL WHERE ix = ?"
            )
            try statement.bind(1, index)
            try statement.run()
            try StoreState.advanceGeneration(in: database)
            return
        }
        let statement = try RawStatement(database, "UPDATE indexes SET built = ? WHERE ix = ?")
        try statement.bind(1, built)
        try statement.bind(2, index)
        try statement.run()
    }
}
#endif
