#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The tables with sealed contents, which a pass visits in the order of their rows' numbers.
enum Resealing: String, CaseIterable {
    case documents
    case history
    case receipts

    private var number: String { self == .documents ? "rid" : "number" }

    private var content: String { self == .receipts ? "receipt" : "body" }

    /// Reseals the next rows after row `start`; call it in a write transaction.
    ///
    /// - Returns: The number of the step's last row; nil after the last step.
    /// - Throws: Errors of the file, and `StorageError/Code/permissionDenied` without the key.
    func step(
        after start: Int64,
        in database: Database,
        for adapter: SQLiteStorageAdapter,
        _ report: inout ResealReport
    ) throws -> Int64? {
        if self == .history, try StoredHistory(database) == nil { return nil }
        let reader = adapter.reader(database, remembers: false)
        let rows = try RawStatement(
            database,
            """
            SELECT \(number), \(self == .receipts ? "0" : "cid"), id, \(content) FROM \(rawValue)
            WHERE \(number) > ? AND \(content) IS NOT NULL
            ORDER BY \(number) LIMIT \(BodySealing.itemsPerReseal)
            """
        )
        try rows.bind(1, start)
        var resealed: [(row: Int64, bytes: [UInt8])] = []
        var (count, size, last) = (0, 0, start)
        try rows.each { row in
            let bytes = row.bytes(3)
            (count, size, last) = (count + 1, size + bytes.count, row.integer(0))
            let context =
                try self == .receipts
                ? "receipt/\(row.text(2))"
                : DocumentPath(trusted: reader.path(of: row.integer(1)), id: row.text(2)).string
            let new = try adapter.sealing.reseal(bytes, as: context, counting: &report) {
                try adapter.opensProof(in: database)
            }
            if let new { resealed.append((last, new)) }
            return size < BodySealing.bytesPerReseal
        }
        let update = try RawStatement(
            database,
            "UPDATE \(rawValue) SET \(content) = ? WHERE \(number) = ?"
        )
        for (row, bytes) in resealed {
            try update.bind(1, bytes)
            try update.bind(2, row)
            try update.run()
        }
        let isEnd = count < BodySealing.itemsPerReseal && size < BodySealing.bytesPerReseal
        return isEnd ? nil : last
    }
}
#endif
