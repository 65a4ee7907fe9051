#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// Returns the next changes after a cursor, waiting for a change if requested.
    ///
    /// A commit of any adapter ends the wait; the page is empty if it is outside the request's scope. Behind a pooler,
    /// which does not forward the server's announcements, the adapter polls every 10 to 500 milliseconds.
    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        do throws(StorageError) {
            if let query = request.query {
                return try await LoggedResult(query, of: self).page(request)
            }
            let generation = signal.generation
            let (page, sequence) = try await page(request)
            try await note(request, answeredUpTo: page.next)
            guard page.changes.isEmpty, page.isCaughtUp, let limit = request.waitTimeout else {
                return page
            }
            let isBehind = watch.begin(after: sequence)
            defer { watch.end() }
            if !isBehind {
                await signal.wait(since: generation, upTo: limit, on: configuration.clock)
                if Task.isCancelled { throw .cancellation }
                guard signal.generation != generation else { return page }
            }
            var next = request
            next.after = page.next
            // A change outside of the scope ends the wait too. The page is then empty but has advanced, which keeps
            // the wait within its limit.
            return try await self.page(next).page
        } catch {
            throw error.during("changes")
        }
    }

    /// Reads a page of changes, and the log's last sequence in the same snapshot.
    private func page(
        _ request: ChangeRequest
    ) async throws(StorageError) -> (page: ChangePage, sequence: Int64) {
        try await reading(isQuick: true) { [store] snapshot, transaction in
            // Asked first, in the round trip that begins the transaction.
            let place = request.after.flatMap { ChangePosition($0)?.place.point.sequence }
            let mark = try place.flatMap { try snapshot.mark(of: $0) }
            let tail = try transaction.tail()
            var log = tail.log
            if let place, let mark { log.marks[place] = mark }
            let pages = try ChangePageReader(request, in: snapshot, log, epoch: store.epoch)
            return (try pages.page(), tail.sequence)
        }
    }
}
#endif
