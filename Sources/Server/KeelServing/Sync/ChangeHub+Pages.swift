internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting

extension ChangeHub {
    /// Returns the page of a query when there are changes, or when its wait is over.
    func page(for query: ChangeQuery) async throws(StorageError) -> ChangePage {
        var request = ChangeRequest(
            after: query.cursor,
            scope: query.scope,
            limit: query.limit,
            maximumBytes: configuration.mostPageBytes
        )
        request.clients = query.clients
        request.reader = query.reader
        let page = try await adapter.changes(request)
        guard query.wait > .zero, Self.isQuiet(page) else { return page }
        let interest = ChangeInterest(
            scope: query.scope,
            database: query.database,
            tellsContent: false,
            clients: query.clients
        )
        let listener = ChangeListener(
            interest: interest,
            caller: query.caller,
            after: page.next,
            maximumBytes: 1 << 16
        )
        // Without capacity for waiting, the page is returned immediately, so that a client can always read.
        guard let id = try? add(listener) else { return page }
        defer { remove(id) }
        let timer = DeadlineTimer.on(configuration.clock)
        _ = await timer.run(until: timer.now + query.wait) {
            await self.waitForNews(for: listener, after: page.next)
        }
        return try await adapter.changes(request)
    }

    /// Waits until there may be changes for a listener, or the task is canceled.
    private func waitForNews(for listener: ChangeListener, after start: ChangeCursor) async {
        var position = start
        var isStalled = false
        while !Task.isCancelled {
            let step = listener.step()
            switch step {
            case .end: return
            case .wait: if await listener.wait() == nil { continue }
            // This may be only a heartbeat; a read decides.
            case .send: break
            case .readPage: attend(listener)
            }
            var request = ChangeRequest(after: position, scope: listener.interest.scope, limit: 1)
            // A replica may lag behind the shared reader, so an immediate read is useless.
            if isStalled { request.waitTimeout = .seconds(1) }
            guard let page = try? await adapter.changes(request), Self.isQuiet(page) else { return }
            position = page.next
            guard case .readPage = step else { continue }
            listener.tell(position)
            isStalled = !join(listener, at: position, time: page.time)
        }
    }

    /// Returns whether a page has no changes for clients and ends at a consistent point.
    private static func isQuiet(_ page: ChangePage) -> Bool {
        page.isCaughtUp && ChangeMessages.visible(page.changes).isEmpty
    }
}
