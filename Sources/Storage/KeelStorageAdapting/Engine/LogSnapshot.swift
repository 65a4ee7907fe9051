package import KeelDocuments

package protocol LogSnapshot: StoreSnapshot {
    func mark(of sequence: Int64) throws -> Int64?

    func lastMark(upTo sequence: Int64) throws -> Int64?

    func firstMark(after sequence: Int64) throws -> Int64?

    /// Reads the changes after a sequence in the order of their sequences.
    ///
    /// The changes are those of documents with one of at most 16 ids in at most 16 collections; nil means any. Probably
    /// `count` changes will be taken.
    @discardableResult
    func eachChange(
        after sequence: Int64,
        of collections: [Int64]?,
        with ids: [String]?,
        expecting count: Int,
        _ take: (LoggedChange) throws -> Bool
    ) throws -> Bool

    /// Returns, for each change, the last later removal of its document; nil if there is none.
    func lastRemovals(after changes: [LoggedChange]) throws -> [(sequence: Int64, revision: Int64)?]

    func removalTimes(of sequences: [Int64]) throws -> [Timestamp]

    func clientNames(of numbers: Set<Int64>) throws -> [Int64: String]

    func lastMutations(of clients: Set<String>) throws -> [String: Int64]

    /// Returns the numbers of the first collections that a query covers, from a number on, in their order.
    ///
    /// The cost does not depend on the number of collections after them.
    ///
    /// - Returns: At most `count` numbers, and a number from which the next ones follow; nil if there are none.
    func collections(
        of prepared: PreparedQuery,
        from first: Int64,
        most count: Int
    ) throws -> (numbers: [Int64], next: Int64?)

    /// Reads all documents whose numbers are greater than a number, in the order of their numbers.
    ///
    /// Probably `count` rows will be taken.
    @discardableResult
    func eachDocument(
        after number: Int64,
        expecting count: Int,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool
}

extension LogSnapshot {
    /// Returns the point of a sequence, even if the log no longer has its change.
    ///
    /// Such a point has the period of the preceding change; without one, its cursor expires.
    package func point(at sequence: Int64, in log: LogExtent? = nil) throws -> LogPoint {
        if let point = try knownPoint(at: sequence, in: log) { return point }
        let period = try lastMark(upTo: sequence).map(LogPoint.period)
        // Not below the mark of the change itself, because positions must not go back.
        return LogPoint(sequence, mark: period.map { $0 << 32 | 0xFFFF_FFFF } ?? 0)
    }

    private func knownPoint(at sequence: Int64, in log: LogExtent?) throws -> LogPoint? {
        let known = try log?.marks[sequence] ?? mark(of: sequence)
        guard let mark = known ?? (sequence == 0 ? 0 : nil) else { return nil }
        return LogPoint(sequence, mark: mark)
    }

    /// Returns the place of a cursor from which the log can still be read.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if the cursor is of another store, of changes that the log no
    ///   longer has, or of changes that are missing from a store restored to an earlier state.
    package func place(
        of cursor: ChangeCursor,
        in log: LogExtent,
        epoch: UInt64
    ) throws -> ChangePosition.Place {
        guard let position = ChangePosition(cursor), position.epoch == epoch else {
            throw StorageError(.cursorExpired, "the cursor belongs to another store")
        }
        let point = position.place.point
        guard point.sequence >= log.trimmed else {
            throw StorageError(.cursorExpired, "the change log no longer reaches the cursor")
        }
        guard try hasPoint(point, in: log) else {
            throw StorageError(
                .cursorExpired,
                "the store does not have the cursor’s change; its file was restored to an earlier state"
            )
        }
        return position.place
    }

    private func hasPoint(_ point: LogPoint, in log: LogExtent) throws -> Bool {
        if let known = try knownPoint(at: point.sequence, in: log) { return known == point }
        guard point.sequence <= log.compacted else { return false }
        // The log has the first and the last change of the period, so a change of the period was between them.
        let period = LogPoint.period(of: point.mark)
        return try lastMark(upTo: point.sequence).map(LogPoint.period) == period
            && firstMark(after: point.sequence).map(LogPoint.period) == period
    }
}
