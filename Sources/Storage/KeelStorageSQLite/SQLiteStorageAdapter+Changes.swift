#if SQLite
internal import GRDB
internal import KeelCore
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        do throws(StorageError) {
            if let query = request.query {
                return try await LoggedResult(query, of: self).page(request)
            }
            let generation = signal.generation
            let (page, sequence) = try await readingPage(request)
            try await note(request, answeredUpTo: page.next)
            guard page.changes.isEmpty, page.isCaughtUp, let limit = request.waitTimeout else {
                return page
            }
            defer { watch.end() }
            if !watch.begin(after: sequence) {
                await signal.wait(since: generation, upTo: limit, on: configuration.clock)
                if Task.isCancelled { throw .cancellation }
                guard signal.generation != generation else { return page }
            }
            var next = request
            next.after = page.next
            // A change outside of the scope ends the wait too. The page is then empty but has advanced, which keeps
            // the wait within its limit.
            return try await readingPage(next).page
        } catch {
            throw error.during("changes")
        }
    }

    package var wakeUpCount: Int { watch.wakeUpCount }

    package var hasFileEvents: Bool { watch.hasEvents }

    /// Reads a page, on a thread for long reads unless it is surely short: a narrow scope may pass over many changes.
    private func readingPage(
        _ request: ChangeRequest
    ) async throws(StorageError) -> (page: ChangePage, sequence: Int64) {
        let isShort = request.waitTimeout != nil || request.limit <= 100
        guard isShort, request.scope == .everything else {
            return try await readingLong { try self.page(request) }
        }
        return try await reading { try self.page(request) }
    }

    private func page(_ request: ChangeRequest) throws -> (page: ChangePage, sequence: Int64) {
        try readSnapshot { reader in
            let state = try StoreState(reader.database)
            var reader = reader
            reader.generation = state.generation
            let pages = try ChangePageReader(request, in: reader, state.log, epoch: epoch)
            return (try pages.page(), state.sequence)
        }
    }
}
#endif
