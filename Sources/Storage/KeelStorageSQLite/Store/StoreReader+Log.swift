#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension StoreReader: LogSnapshot {
    func mark(of sequence: Int64) throws -> Int64? {
        // All columns, because a file of an earlier version that is only read has no marks.
        let statement = try RawStatement(database, "SELECT * FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        return try statement.first(LogPoint.mark)
    }

    func lastMark(upTo sequence: Int64) throws -> Int64? {
        try LogPoint.lastMark(upTo: sequence, in: database)
    }

    func firstMark(after sequence: Int64) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT * FROM changes WHERE seq > ? ORDER BY seq LIMIT 1"
        )
        try statement.bind(1, sequence)
        return try statement.first(LogPoint.mark)
    }

    func eachChange(
        after sequence: Int64,
        of collections: [Int64]?,
        with ids: [String]?,
        expecting count: Int,
        _ take: (LoggedChange) throws -> Bool
    ) throws -> Bool {
        let statement = try RawStatement(
            database,
            """
            SELECT * FROM changes WHERE seq > ?1
            \(collections == nil ? "" : "AND cid IN (\(Self.collectionMarks))")
            \(ids == nil ? "" : "AND id IN (\(Self.idMarks))")
            ORDER BY seq
            """
        )
        try statement.bind(1, sequence)
        // The lists are filled up with their last element, so that one statement serves all lengths.
        for place in 0..<Self.mostNamed {
            if let collections {
                let number = collections[min(place, collections.count - 1)]
                try statement.bind(Int32(2 + place), number)
            }
            if let ids {
                let id = ids[min(place, ids.count - 1)]
                try statement.bind(Int32(2 + Self.mostNamed + place), id)
            }
        }
        return try statement.each { try take(Self.change($0)) }
    }

    private static let mostNamed = 16

    private static let collectionMarks = marks(from: 2)
    private static let idMarks = marks(from: 2 + mostNamed)

    private static func marks(from first: Int) -> String {
        (0..<mostNamed).map { "?\(first + $0)" }.joined(separator: ", ")
    }

    private static func change(_ row: RawStatement) -> LoggedChange {
        let hasOrigin = row.columnCount > 7 && !row.isNull(6)
        return LoggedChange(
            sequence: row.integer(0),
            collection: row.integer(1),
            id: row.text(2),
            revision: row.integer(3),
            isRemoval: row.integer(4) != 0,
            mark: LogPoint.mark(row),
            origin: hasOrigin ? (row.integer(6), row.integer(7)) : nil
        )
    }

    func lastRemovals(
        after changes: [LoggedChange]
    ) throws -> [(sequence: Int64, revision: Int64)?] {
        // The index of removals finds it without walking the log.
        let statement = try RawStatement(
            database,
            """
            SELECT seq, rev FROM changes WHERE cid = ? AND id = ? AND removed = 1 AND seq > ?
            ORDER BY seq DESC LIMIT 1
            """
        )
        return try changes.map { change in
            try statement.bind(1, change.collection)
            try statement.bind(2, change.id)
            try statement.bind(3, change.sequence)
            return try statement.first { ($0.integer(0), $0.integer(1)) }
        }
    }

    func removalTimes(of sequences: [Int64]) throws -> [Timestamp] {
        // A read-only file of an earlier version has no table of removal times.
        let hasTimes = try RawStatement(
            database,
            "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'removal_times')"
        ).first { $0.integer(0) != 0 }
        return try sequences.map { sequence in
            guard hasTimes == true else { return Timestamp(microseconds: sequence) }
            return try RemovalTimes.time(of: sequence, in: database)
        }
    }

    func clientNames(of numbers: Set<Int64>) throws -> [Int64: String] {
        let statement = try RawStatement(database, "SELECT name FROM clients WHERE number = ?")
        var names: [Int64: String] = [:]
        for number in numbers {
            try statement.bind(1, number)
            names[number] = try statement.first { $0.text(0) }
        }
        return names
    }

    func lastMutations(of clients: Set<String>) throws -> [String: Int64] {
        // A read-only file of an earlier version has no clients.
        guard try StoreFormat.hasColumn("mutation", in: "changes", database) else { return [:] }
        let statement = try RawStatement(database, "SELECT mutation FROM clients WHERE name = ?")
        var last: [String: Int64] = [:]
        for client in clients {
            try statement.bind(1, client)
            last[client] = try statement.first { $0.integer(0) }
        }
        return last
    }

    func eachDocument(
        after number: Int64,
        expecting count: Int,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let statement = try RawStatement(
            database,
            "SELECT \(RawStatement.columns) FROM documents d WHERE d.rid > ? ORDER BY d.rid"
        )
        try statement.bind(1, number)
        return try statement.eachRow(take)
    }
}

extension LogPoint {
    static func last(
        _ sequence: Int64,
        in database: Database
    ) throws -> (point: LogPoint, total: Int64) {
        let statement = try RawStatement(database, "SELECT mark, total FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        return try statement.first { (LogPoint(sequence, mark: $0.integer(0)), $0.integer(1)) }
            ?? (LogPoint(sequence, mark: 0), 0)
    }

    static func lastMark(upTo sequence: Int64, in database: Database) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT * FROM changes WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
        )
        try statement.bind(1, sequence)
        return try statement.first(mark)
    }

    /// Returns the mark in a row with all columns of `changes`.
    static func mark(_ row: RawStatement) -> Int64 {
        row.columnCount > 5 ? row.integer(5) : 0
    }

    static let addColumn = "ALTER TABLE changes ADD COLUMN mark INTEGER"
}

extension StoreState {
    var log: LogExtent {
        LogExtent(sequence: sequence, time: time, trimmed: trimmed, compacted: compacted)
    }
}
#endif
