internal import HTTPTypes
internal import KeelHTTP
internal import KeelStorageAdapting

extension FeedStream {
    enum End: Sendable {
        /// The stream was unused, or was closed.
        case unused
        /// The stream broke off, or could not be opened.
        case broken
        /// The server refuses further streams, for the given duration if known.
        case refused(Duration?)
        /// The server does not support streams.
        case unsupported
    }

    private struct Pending {
        private(set) var changes: [ChangePage.Change] = []
        private(set) var origins: [DocumentPath: ChangeOrigin] = [:]
        private var size = 0

        var isTooLong: Bool { changes.count > 20_000 || size > 64 << 20 }

        mutating func append(_ change: ChangePage.Change, _ origin: ChangeOrigin?) {
            changes.append(change)
            origins[change.path] = origin
            if case .current(let document) = change { size += document.body.bytes.count }
        }
    }

    /// Opens the stream at a position, and reads it to its end; returns the reason why it ended.
    ///
    /// `onCheckpoint` is called at each consistent point, which proves that the connection works.
    func read(
        from connection: FeedConnection,
        after cursor: ChangeCursor,
        onCheckpoint: @Sendable () -> Void
    ) async -> End {
        guard
            let reply = try? await connection.stream(after: cursor, scope: scope, clients: clients)
        else { return Task.isCancelled ? .unused : .broken }
        switch reply.head.status.code {
        case 200: break
        case 404, 405, 406, 501: return .unsupported
        case 429, 503: return .refused(reply.head.retryAfter)
        default: return .broken
        }
        let type = reply.head.headerFields[.contentType] ?? ""
        guard type.lowercased().hasPrefix("text/event-stream") else { return .unsupported }
        // The JSON of a document of 1 MiB can be several times as long.
        let limits = ServerSentEventLimits(maximumLineLength: 16 << 20, maximumEventSize: 16 << 20)
        var parser = ServerSentEventParser(limits: limits)
        var pending = Pending()
        var chunks = reply.body.makeAsyncIterator()
        do {
            while let chunk = try await chunks.next() {
                parser.append(chunk)
                while let event = try parser.next() {
                    guard try take(event, &pending, connection.decoding) else { return .broken }
                    if event.type == "checkpoint" { onCheckpoint() }
                }
                // The server's heartbeat makes the loop reach this check at least every 15 seconds.
                if isUnused(for: connection.configuration.idleTimeout) { return .unused }
            }
        } catch {
            return Task.isCancelled ? .unused : .broken
        }
        return Task.isCancelled ? .unused : .broken
    }

    /// Returns false to end the stream.
    private func take(
        _ event: ServerSentEvent,
        _ pending: inout Pending,
        _ decoding: FeedDecoding
    ) throws(StorageError) -> Bool {
        switch event.type {
        case "change":
            let (change, origin) = try decoding.change(data: event.data)
            if let change = filter.told(change) { pending.append(change, origin) }
            return !pending.isTooLong
        case "progress", "checkpoint":
            guard !event.lastEventID.isEmpty,
                let cursor = FirestoreDecoding.cursor(event.lastEventID)
            else { return false }
            let isConsistent = event.type == "checkpoint"
            // If the epoch has changed, the next page makes the reader start over.
            let checkpoint: (epoch: String?, acknowledged: [String: Int64]) =
                isConsistent ? decoding.checkpoint(event.data) : (epoch, [:])
            if checkpoint.epoch != epoch { return false }
            defer { pending = Pending() }
            let page = ChangePage(
                changes: pending.changes,
                next: cursor,
                isCaughtUp: isConsistent,
                time: isConsistent ? decoding.time(of: event.data) : nil,
                origins: pending.origins,
                acknowledged: checkpoint.acknowledged
            )
            return add(page)
        case "reset": return false
        // Later versions may add events.
        default: return true
        }
    }
}
