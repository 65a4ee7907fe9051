#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Reads a store as it was at a time, in one snapshot.
struct StorePast {
    private let reader: StoreReader
    private let state: StoreState
    /// The time in microseconds: what a later commit replaced was there.
    private let time: Int64

    /// The columns of ``StoreReader/columns``, of a row of `history`.
    static let columns = "number, cid, id, rev, created, updated, pending, body"
    private static let bodyColumn: Int32 = 7

    /// - Throws: `StorageError/Code/unsupported`, `StorageError/Code/snapshotTooOld` or, for a time
    ///   that has not come yet, `StorageError/Code/invalidArgument`.
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

    /// The sequence of the last change until the time.
    func sequence() throws -> Int64 {
        // Of what the log has compacted, a time names the state alone.
        guard time > state.compacted else { return time }
        let statement = try RawStatement(
            reader.database,
            "SELECT max(seq) FROM changes WHERE seq <= ?"
        )
        try statement.bind(1, time)
        let last = try statement.first { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
        // What the log does not have any more must not look as if it had.
        return last ?? min(time, state.trimmed)
    }

    /// The document at a path, as it was.
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
        // An image that says that there was nothing is an answer too.
        if let image { return image }
        return try reader.document(at: path, in: number)?.document
    }

    /// What of a query's collections was otherwise.
    func documents(of prepared: PreparedQuery) throws -> PastDocuments {
        var documents = PastDocuments()
        // A search for words is not decided yet when a place is.
        let window = prepared.query.search == nil ? prepared.window : nil
        func take(_ row: RawStatement, in collection: CollectionPath) throws {
            documents.changed.insert(DocumentPath(trusted: collection, id: row.text(2)))
            guard let document = try Self.document(row, reader),
                let key = prepared.place(of: document)
            else { return }
            documents.take(document, at: key, within: window)
        }
        // Of a group's columns SQLite takes the row with the minimum:
        // https://sqlite.org/lang_select.html#bareagg
        if case .everything = prepared.query.scope {
            // What was changed since, and not all collections there are.
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

    /// The number of the first image of what a later commit replaced; images are in the order of times.
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

    /// The names of the collections under a document that had documents, or only deeper ones.
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

    /// The document of an image, nil if there was none.
    static func document(_ row: RawStatement, _ reader: StoreReader) throws -> Document? {
        row.isNull(bodyColumn) ? nil : try reader.document(row)
    }
}

#endif
