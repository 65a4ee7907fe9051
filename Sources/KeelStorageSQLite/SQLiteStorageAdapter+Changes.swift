#if SQLite
internal import GRDB
internal import KeelCore
public import KeelStorage

extension SQLiteStorageAdapter {
    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        do throws(StorageError) {
            let generation = signal.generation
            let (page, sequence) = try await whileBusy { try self.page(request) }
            guard page.changes.isEmpty, page.isCaughtUp, let limit = request.waitsUpTo,
                try await waitForCommit(after: sequence, since: generation, upTo: limit)
            else { return page }
            var next = request
            next.after = page.next
            // A change outside of the scope ends the wait too: the page is then empty and has
            // moved on, which keeps the wait within its limit.
            return try await whileBusy { try self.page(next).page }
        } catch {
            throw error.during("changes")
        }
    }

    /// Waits for a commit of this adapter, which raises the signal, or of another connection, which
    /// only a look at the file can tell.
    ///
    /// The look asks for the log's last sequence. `PRAGMA data_version` would need a connection of
    /// its own and would also report what is no change to a document.
    ///
    /// - Returns: Whether there was one.
    private func waitForCommit(
        after sequence: Int64,
        since generation: UInt64,
        upTo limit: Duration
    ) async throws(StorageError) -> Bool {
        var waited = Duration.zero
        while waited < limit {
            let step = min(max(configuration.pollInterval, .milliseconds(1)), limit - waited)
            await signal.wait(since: generation, upTo: step, on: configuration.clock)
            if Task.isCancelled { throw .cancellation }
            if signal.generation != generation { return true }
            waited += step
            let latest = try await whileBusy {
                try readOnce { try StoreState.sequence(in: $0.database) }
            }
            if latest != sequence { return true }
        }
        return false
    }

    /// A page of changes, and the sequence of the log's last change in the same snapshot.
    private func page(_ request: ChangeRequest) throws -> (page: ChangePage, sequence: Int64) {
        try readSnapshot { reader in
            let state = try StoreState(reader.database)
            var feed = try ChangeFeed(request, reader: reader, state: state, epoch: epoch)
            return (try feed.page(), state.sequence)
        }
    }
}
#endif
