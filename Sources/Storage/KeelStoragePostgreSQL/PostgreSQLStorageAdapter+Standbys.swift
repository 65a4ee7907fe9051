#if PostgreSQL
internal import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// The least staleness for which standbys are asked: below it, the primary would be asked for its tail too often.
    private static var leastStaleness: Duration { .milliseconds(100) }

    /// Answers a request from a standby whose state was current no longer ago than the request allows.
    ///
    /// - Returns: The answer; nil if the primary has to answer.
    func readOnStandby(_ request: ReadRequest) async throws(StorageError) -> ReadResult? {
        guard let standbys, let staleness = request.maximumStaleness,
            staleness >= Self.leastStaleness,
            request.asOf == nil, request.holdDuration == nil, request.reads == nil
        else { return nil }
        var result: ReadResult?
        if let sighting = try await standbys.sighting(allowing: staleness) {
            result = try await standbys.reading(isQuick: request.isQuick) {
                [self] connection -> ReadResult? in
                do {
                    return try answer(request, since: sighting, onStandby: connection)
                } catch let end as WaitingEnd where end == .timeout && !connection.isOpen {
                    // The standby is not only slow: it did not even stop when it was asked to.
                    throw DatabaseFailure.lost("the standby did not answer in time")
                }
            }
        }
        counts.countRead(isOnStandby: result != nil)
        return result
    }

    /// Answers from the present state of a standby; returns nil if the primary has to answer.
    private func answer(
        _ request: ReadRequest,
        since sighting: TailSightings.Sighting,
        onStandby connection: DatabaseConnection
    ) throws -> ReadResult? {
        try connection.openIfNeeded()
        let snapshot = TableSnapshot(connection, store)
        let statement = store.tailStatement(since: sighting)
        // Each statement sees at least the state of the one before, if no pooler passes it on to another server.
        if request.isOneStatement, connection.isDirect {
            let rows = try connection.run(statement)
            let tail = try reachedTail(rows, since: sighting, onStandby: connection)
            guard tail != nil else { return nil }
            return try snapshot.answer(request, past: nil) { IndexSet(generation: -1, all: []) }
        }
        return try connection.endTransaction { () throws -> ReadResult? in
            let rows = try connection.begin(with: statement)
            let reached = try reachedTail(rows, since: sighting, onStandby: connection)
            guard let tail = reached else { return nil }
            // The primary completes them first.
            if request.searches, try snapshot.indexes(tail).mustBeFinished(for: request) {
                return nil
            }
            return try answer(request, snapshot, ReadTransaction(of: snapshot, tail: tail))
        }
    }

    /// Returns the tail of a standby; nil if the standby may lack something that the primary had.
    ///
    /// - Throws: ``DatabaseFailure`` if the server has become a primary; another connection then finds a standby.
    private func reachedTail(
        _ rows: DatabaseRows,
        since sighting: TailSightings.Sighting,
        onStandby connection: DatabaseConnection
    ) throws -> StoreTail? {
        guard let row = rows.first else { return nil }
        let tail = StoreTail(row)
        guard tail.serverTimeline == nil else {
            connection.close()
            throw DatabaseFailure.lost("the standby was promoted")
        }
        try connection.check(tables: tail.tables)
        let isReached = sighting.isReached(
            by: tail.sequence,
            on: row.integer(StoreTail.columnCount),
            in: tail.tables
        )
        return isReached ? tail : nil
    }
}

extension OpenStore {
    /// Returns the statement for the tail on a standby, followed by the least timeline of its state.
    ///
    /// That is the timeline of the store's last change or, if that is too low, of the standby's last checkpoint, which
    /// follows a promotion by minutes. Without the store of the sighting, as in another cluster, there is no row.
    fileprivate func tailStatement(since sighting: TailSightings.Sighting) -> DatabaseStatement {
        DatabaseStatement(
            """
            SELECT \(StoreTail.columns),
                CASE WHEN timeline < $3 THEN (SELECT timeline_id FROM pg_control_checkpoint()) ELSE timeline END
            FROM keel.stores WHERE store = $1 AND epoch = $2
            """
        ) {
            $0.add(self.number)
            $0.add(Int64(bitPattern: self.epoch))
            $0.add(sighting.timeline)
        }
    }
}
#endif
