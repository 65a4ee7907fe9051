#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

extension PostgreSQLStorageAdapter {
    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        do throws(StorageError) {
            return try await line.commit(batches) { all throws(StorageError) in try await write(all)
            }
        } catch {
            throw error.during("commit")
        }
    }

    private func write(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let (results, sequence) = try await counting(batches) { [self] connection in
            // The group concerns several tasks, so none of them ends it.
            connection.ignoresCancellation = true
            defer { connection.ignoresCancellation = false }
            let number = groups.add(1, ordering: .relaxed).newValue
            var wait = GroupWait()
            do {
                defer { counts.add(wait.duration) }
                return try write(batches, number: number, on: connection, &wait)
            } catch {
                if connection.isOpen { try? connection.end("ROLLBACK") }
                throw error
            }
        }
        if let sequence { watch.saw(sequence) }
        return results
    }

    private func counting<Value: Sendable>(
        _ batches: [WriteBatch],
        _ work: @escaping @Sendable (DatabaseConnection) throws -> Value
    ) async throws(StorageError) -> Value {
        do throws(StorageError) {
            let value = try await pool.writer.run(work)
            counts.countGroup(of: batches.reduce(0) { $0 + $1.writes.count })
            return value
        } catch {
            if !error.isCancellation { counts.countFailure() }
            throw error
        }
    }

    private func write(
        _ batches: [WriteBatch],
        number: Int64,
        on connection: DatabaseConnection,
        _ wait: inout GroupWait
    ) throws -> (results: [Result<CommitReceipt, StorageError>], sequence: Int64?) {
        var group = try CommitGroup(
            batches,
            number: number,
            beginsPeriod: trimming.beginsPeriod,
            of: store,
            on: connection
        )
        wait.end()
        var results: [Result<CommitReceipt, StorageError>] = []
        results.reserveCapacity(batches.count)
        for batch in batches { results.append(try group.apply(batch)) }
        let isLong = trimming.isDue(after: group.changeCount, keeping: configuration.retention)
        if isLong || isTrimmingDue(at: group.tail) {
            let isDone = try group.trim(to: configuration.retention)
            if !isDone { trimming.goOn() }
        }
        try group.commit()
        if group.changeCount > 0 {
            trimming.finished(group.changeCount)
            connection.writtenTables = group.tail.tables
        }
        // Only now that the new numbers cannot be rolled back.
        for (path, number) in group.numbered { connection.catalog?.remember(path, as: number) }
        connection.catalog?.remember(group.indexes)
        return (results, group.changeCount > 0 ? group.tail.sequence : nil)
    }

    /// Returns whether a minute has passed since the last trimming, or a sixteenth of a shorter history.
    private func isTrimmingDue(at tail: StoreTail) -> Bool {
        let longest = Duration.seconds(16 * 60)
        let history = tail.historyAge.map { Duration.microseconds($0) } ?? longest
        return forgetting.isDue(at: store.time(tail), keeping: min(history, longest))
    }

    /// Runs work in a transaction that holds the store's tail, in turn with commits.
    ///
    /// Cancellation ends it soon, unless the server is committing. After a lost connection, the work may run again,
    /// although its first run has taken effect.
    ///
    /// - Throws: An error, whose effect is unknown if a COMMIT got no answer or no standby has confirmed it.
    func maintaining<Value: Sendable>(
        _ body: @escaping @Sendable (TableSnapshot, StoreTail) throws -> Value
    ) async throws(StorageError) -> Value {
        guard case .write = await line.turn(for: [], isAlone: true) else { throw .cancellation }
        defer { line.leave() }
        let isUncertain = Mutex(false)
        do throws(StorageError) {
            return try await pool.writer.run { [store] connection in
                let beginning = try CommitGroup.beginning(on: connection)
                var isCommitting = false
                do {
                    let rows = try connection.run(
                        beginning + [store.tailStatement(isLocking: true)]
                    )
                    let tail = try connection.tail(rows[beginning.count])
                    try tail.checkFormat()
                    let snapshot = TableSnapshot(connection, store, remembers: false)
                    let value = try body(snapshot, tail)
                    isCommitting = true
                    // Canceled, the server would report a success that no standby has confirmed.
                    try connection.run([DatabaseStatement("COMMIT")], .committing)
                    guard !connection.isUnconfirmed else { throw StorageError.unconfirmed }
                    return value
                } catch {
                    if connection.isOpen {
                        try? connection.end("ROLLBACK")
                    } else if isCommitting {
                        isUncertain.withLock { $0 = true }
                    }
                    throw error
                }
            }
        } catch {
            throw isUncertain.withLock { $0 } ? error.withUnknownEffect : error
        }
    }
}

private struct GroupWait {
    private let start = ContinuousClock.now
    private var measured: Duration?

    var duration: Duration { measured ?? (ContinuousClock.now - start) }

    mutating func end() { measured = ContinuousClock.now - start }
}
#endif
