#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension StoreReader: StoreSnapshot {
    var isCancellable: Bool { database.onlyReads }

    func eachDocument(
        at paths: [DocumentPath],
        asOf time: Int64?,
        _ take: (Int, borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        for (position, path) in paths.enumerated() {
            guard let collection = try number(of: path.collection) else { continue }
            if let time {
                let image = try image(of: path, in: collection, after: time).first { statement in
                    let row = statement.row()
                    // An image can also record that the document was missing.
                    guard row.body != nil else { return true }
                    return try take(position, row)
                }
                if image == false { return false }
                if image == true { continue }
            }
            let isWanted = try selection(of: path, in: collection).first {
                try take(position, $0.row())
            }
            if isWanted == false { return false }
        }
        return true
    }

    func eachDocument(
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let statement = try RawStatement(
            database,
            "SELECT \(RawStatement.columns) FROM documents d WHERE d.cid = ?"
        )
        return try collections.allSatisfy { collection in
            try statement.bind(1, collection)
            return try statement.eachRow(take)
        }
    }

    func eachDocument(
        matching search: SearchFilter,
        in index: StoredIndex,
        of collections: [Int64],
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        guard let first = collections.first else { return true }
        let only = collections.count == 1 ? first : nil
        let statement = try index.searchStatement(search, of: only, in: database)
        // Once for all collections: the words of each are found among those of all.
        let wanted = Set(collections)
        return try statement.each { found in
            guard wanted.contains(found.integer(1)) else { return true }
            return try take(found.row())
        }
    }

    // MARK: The past

    private func image(
        of path: DocumentPath,
        in collection: Int64,
        after time: Int64
    ) throws -> RawStatement {
        let statement = try RawStatement(
            database,
            """
            SELECT \(Self.imageColumns) FROM history
            WHERE cid = ? AND id = ? AND time > ? ORDER BY time LIMIT 1
            """
        )
        try statement.bind(1, collection)
        try statement.bind(2, path.id)
        try statement.bind(3, time)
        return statement
    }

    func eachImage(
        of collections: [Int64]?,
        after time: Int64,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        // From each group, SQLite takes the columns of the row with the minimum:
        // https://sqlite.org/lang_select.html#bareagg
        guard let collections, collections.count <= Self.mostSearched else {
            // Only the later images, instead of all collections.
            let statement = try RawStatement(
                database,
                """
                SELECT \(Self.imageColumns), min(time) FROM history WHERE number >= ?
                GROUP BY cid, id
                """
            )
            try statement.bind(1, try firstNumber(in: "history", after: time))
            let wanted = collections.map { Set($0) }
            return try statement.each { image in
                guard wanted?.contains(image.integer(1)) ?? true else { return true }
                return try take(image.row())
            }
        }
        let statement = try RawStatement(
            database,
            """
            SELECT \(Self.imageColumns), min(time) FROM history
            WHERE cid = ? AND time > ? GROUP BY id
            """
        )
        try statement.bind(2, time)
        return try collections.allSatisfy { collection in
            try statement.bind(1, collection)
            return try statement.eachRow(take)
        }
    }

    private static let mostSearched = 16

    /// The columns of an image in the order of ``RawStatement/columns``.
    static let imageColumns = "number, cid, id, rev, created, updated, pending, body"

    /// Returns the number of the first row of `history` or `receipts` after a time, or the number after the last row.
    ///
    /// Rows are numbered in the order of their times. After a wrong clock, a few receipts may not be, and the result
    /// may be too low.
    func firstNumber(in table: String, after time: Int64) throws -> Int64 {
        // Two queries, because SQLite would read all rows for both ends in one.
        let ends = try RawStatement(
            database,
            "SELECT (SELECT min(number) FROM \(table)), (SELECT max(number) FROM \(table))"
        ).first { ($0.integer(0), $0.integer(1)) }
        guard var (low, high) = ends else { return 0 }
        let next = try RawStatement(
            database,
            "SELECT time FROM \(table) WHERE number >= ? ORDER BY number LIMIT 1"
        )
        while low <= high {
            let middle = low + (high - low) / 2
            try next.bind(1, middle)
            guard let found = try next.first({ $0.integer(0) }) else { break }
            if found > time { high = middle - 1 } else { low = middle + 1 }
        }
        return low
    }

    func sequence(upTo time: Int64, _ state: StoreState) throws -> Int64 {
        // In the compacted part of the log, the time itself identifies the state.
        guard time > state.compacted else { return time }
        let statement = try RawStatement(database, "SELECT max(seq) FROM changes WHERE seq <= ?")
        try statement.bind(1, time)
        let last = try statement.first { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
        // A trimmed log must not look complete.
        return last ?? min(time, state.trimmed)
    }
}
#endif
