#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// Retains the change log for a reader that is not always connected, such as a synchronization.
    ///
    /// Call it again as the reader advances. Commits remove a reader that has not called for its lifetime, and no
    /// reader retains changes older than `LogRetention/tombstoneAge` and its lifetime together. Readers that name
    /// themselves in a `ChangeRequest` need not call this method.
    ///
    /// - Parameters:
    ///   - name: The reader's name, at most 1,500 bytes.
    ///   - cursor: The position of the reader.
    ///   - lifetime: How long after this call the log is retained; more than 90 days count as 90.
    /// - Throws: `StorageError/Code/cursorExpired` if the log does not reach the cursor or lacks its change,
    ///   `StorageError/Code/invalidArgument` for a name that is too long, `StorageError/Code/tooLarge` if the store has
    ///   1,000 other readers, and errors of the database.
    public func registerReader(
        _ name: String,
        at cursor: ChangeCursor,
        lifetime: Duration = .seconds(30 * 86_400)
    ) async throws(StorageError) {
        do throws(StorageError) {
            let isRetained = try await note(ChangeReader(name, lifetime: lifetime), at: cursor)
            guard isRetained else { throw StorageError.tooManyReaders }
        } catch {
            throw error.during("registerReader")
        }
    }

    /// Stops retaining the change log for a reader.
    public func unregisterReader(_ name: String) async throws(StorageError) {
        readers.forget(name)
        do throws(StorageError) {
            try await maintaining { snapshot, _ in try snapshot.removeReaders([name]) }
        } catch {
            throw error.during("unregisterReader")
        }
    }

    /// Records the position of the reader that a request names, if that is due.
    func note(_ request: ChangeRequest, answeredUpTo next: ChangeCursor) async throws(StorageError)
    {
        guard request.reader != nil else { return }
        try await readers.follow(request, answeredUpTo: next) {
            reader,
            cursor throws(StorageError) in
            _ = try await note(reader, at: cursor)
        } release: {
            name throws(StorageError) in
            try await unregisterReader(name)
        }
    }

    private func note(
        _ reader: ChangeReader,
        at cursor: ChangeCursor
    ) async throws(StorageError) -> Bool {
        try reader.checkName()
        let (epoch, retention) = (store.epoch, configuration.retention)
        return try await maintaining { snapshot, tail in
            let place = try snapshot.place(of: cursor, in: tail.log, epoch: epoch)
            let age = try StoreAge(snapshot, tail, keeping: retention)
            return try snapshot.note(reader, at: place.point.sequence, age)
        }
    }

    /// Removes everything beyond the retention, without waiting for commits.
    package func trim() async throws(StorageError) {
        let retention = configuration.retention
        while try await !maintaining({ try StoreTrimming(retention, $0, $1).step() }) {}
    }
}
#endif
