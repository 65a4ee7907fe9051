#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Reads the state of a store at a time, in one snapshot.
struct StorePast {
    private let reader: StoreReader
    private let state: StoreState
    /// The time in microseconds; images of later commits have the state at this time.
    private let time: Int64

    /// The columns of ``StoreReader/columns`` in a row of `history`.
    static let columns = "number, cid, id, rev, created, updated, pending, body"
    private static let bodyColumn: Int32 = 7

    /// - Throws: `StorageError/Code/unsupported`, `StorageError/Code/snapshotTooOld`, or
    ///   `StorageError/Code/invalidArgument` for a time in the future.
    init(at time: Timestamp, now: Timestamp, _ state: StoreState, _ reader: StoreReader) throws {
        guard let history = try StoredHistory(reader.database) else {
            throw StorageError(
                .unsupported,
                "the store keeps no history; set the configuration’s history"
            )
        }
        guard time.microseconds >= history.start else { throw StorageError.snapshotTooOld(time) }
        let present = max(now, state.time)
        guard time <= present else { throw StorageError.notYet(time, present: present) }
        self.reader = reader
        self.state = state
        self.time = time.microseconds
    }

    /// Returns the sequence of the last change up to the time.
    func sequence() throws -> Int64 {
        // In the compacted part of the log, the time itself identifies the state.
        guard time > state.compacted else { return time }
        let statement = try RawStatement(
            reader.database,
            "SELECT max(seq) FROM changes WHERE seq <= ?"
        )
        try statement.bind(1, time)
        let last = try statement.first { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
        // A trimmed log must not look complete.
        return last ?? min(time, state.trimmed)
    }

    /// Returns the document at a path at the time.
    func document(at path: DocumentPath) throws -> Document? {
        guard let number = try reader.number(of: path.collection) else { return nil }
        let statement = try RawStatement(
            reader.database,
            """
            SELECT \(Self.columns) FROM history
            WHERE cid = ? AND id = ? AND time > ? ORDER BY time LIMIT 1
            """
        )
        try statement.bind(1, number)
        try statement.bind(2, path.id)
        try statement.bind(3, time)
        let image = try statement.first { try Self.document($0, reader) }
        // An image can also record that there was no document.
        if let image { return image }
        return try reader.document(at: path, in: number)?.document
    }

    /// Returns the documents of a query's collections that were different.
    func documents(of prepared: PreparedQuery) throws -> PastDocuments {
        var documents = PastDocuments()
        // A place does not decide a text search, so its documents are not cut to the window.
        let window = prepared.query.search == nil ? prepared.window : nil
        func take(_ row: RawStatement, in collection: CollectionPath) throws {
            documents.changed.insert(DocumentPath(trusted: collection, id: row.text(2)))
            guard let document = try Self.document(row, reader),
                let key = prepared.place(of: document)
            else { return }
            documents.take(document, at: key, within: window)
        }
        // From each group, SQLite takes the columns of the row with the minimum:
        // https://sqlite.org/lang_select.html#bareagg
        if case .everything = prepared.query.scope {
            // Only the later images, instead of all collections.
            let statement = try RawStatement(
                reader.database,
                "SELECT \(Self.columns), min(time) FROM history WHERE number >= ? GROUP BY cid, id"
            )
            try statement.bind(1, try firstImage())
            try statement.each { row in
                let collection = try reader.path(of: row.integer(StoreReader.collectionColumn))
                if prepared.covers(collection) { try take(row, in: collection) }
                return true
            }
            return documents
        }
        let statement = try RawStatement(
            reader.database,
            """
            SELECT \(Self.columns), min(time) FROM history
            WHERE cid = ? AND time > ? GROUP BY id
            """
        )
        for collection in try reader.collections(of: prepared) {
            try statement.bind(1, collection.number)
            try statement.bind(2, time)
            try statement.each { row in
                try take(row, in: collection.path)
                return true
            }
        }
        return documents
    }

    /// Returns the number of the first image of a later commit; images are in the order of their times.
    private func firstImage() throws -> Int64 {
        let ends = try RawStatement(reader.database, "SELECT min(number), max(number) FROM history")
            .first { ($0.integer(0), $0.integer(1)) }
        guard var (low, high) = ends else { return 0 }
        let next = try RawStatement(
            reader.database,
            "SELECT time FROM history WHERE number >= ? ORDER BY number LIMIT 1"
        )
        while low <= high {
            let middle = low + (high - low) / 2
            try next.bind(1, middle)
            guard let found = try next.first({ $0.integer(0) }) else { break }
            if found > time { high = middle - 1 } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the names of the collections under a document that had documents, or only deeper ones.
    func names(under parent: DocumentPath?) throws -> [String] {
        try reader.names(
            under: parent,
            where: """
                (EXISTS (
                    SELECT 1 FROM documents d WHERE d.cid = collections.cid AND NOT EXISTS (
                        SELECT 1 FROM history h
                        WHERE h.cid = d.cid AND h.id = d.id AND h.time > \(time)
                    )
                ) OR EXISTS (
                    SELECT 1 FROM history h
                    WHERE h.cid = collections.cid AND h.time > \(time) AND h.body IS NOT NULL
                    AND NOT EXISTS (
                        SELECT 1 FROM history e WHERE e.cid = h.cid AND e.id = h.id
                        AND e.time > \(time) AND e.time < h.time
                    )
                ))
                """
        )
    }

    /// Returns the document of an image; nil if there was none.
    static func document(_ row: RawStatement, _ reader: StoreReader) throws -> Document? {
        row.isNull(bodyColumn) ? nil : try reader.document(row)
    }
}

#endif
