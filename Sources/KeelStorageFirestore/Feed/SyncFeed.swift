package import HTTPTypes
internal import KeelCore
package import KeelHTTP
package import KeelStorageAdapting
internal import Synchronization

/// Follows the changes of a store behind a server of Keel Sync.
///
/// A reader that waits for changes is served from a stream that stays open between its calls. Where
/// there is none, because it broke off, is refused, or the server has none, it asks for pages,
/// which are enough for everything, only later. `Documentation/Protocols/KeelSync.md` describes both.
package final class SyncFeed: Sendable {
    private let connection: FeedConnection
    private let timeline: Timeline
    private let timer: DeadlineTimer
    private let streams: FeedStreams

    /// Creates a feed; nothing is sent before the first call.
    ///
    /// - Parameters:
    ///   - transport: What requests go through.
    ///   - configuration: Where the changes come from.
    ///   - headers: Gives the fields of each request, such as an authorisation.
    package init(
        transport: any HTTPTransport,
        configuration: Configuration,
        headers: @escaping @Sendable () async throws(StorageError) -> HTTPFields = { [:] }
    ) {
        connection = FeedConnection(
            transport: transport,
            configuration: configuration,
            headers: headers
        )
        timeline = Timeline(configuration.clock)
        timer = DeadlineTimer.on(configuration.clock)
        streams = FeedStreams(connection, timeline)
    }

    deinit { streams.close() }

    /// How many streams are open.
    package var streamCount: Int { streams.count }

    /// Closes all streams and opens no more; pages can still be read.
    package func close() { streams.close() }

    /// Returns the changes after a position, as `StorageAdapter` promises.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if the server does not know the position any
    ///   more; `cancelled` at once when the task is cancelled.
    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var epoch = streams.epoch
        guard let limit = request.waitTimeout, limit > .zero else {
            return try await page(request, epoch)
        }
        let end = timeline.now + limit
        var request = request
        var wait = Int64(0)
        while true {
            if let page = try await streamed(request, until: end) { return page }
            let asked = timeline.now
            let page = try await page(request, epoch, wait: wait)
            let isOver = timeline.now >= end
            guard page.changes.isEmpty, page.isCaughtUp, !isOver else { return page }
            // A reader that began anew is a reader of the data that is there now.
            if request.after == nil { epoch = streams.epoch }
            request.after = page.next
            if streams.open(request, after: page.next) { continue }
            // A server that has no place to wait answers at once, and is not to be asked at once.
            let isHasty = wait > 0 && timeline.now - asked < .seconds(1)
            wait = try await nextWait(until: end, isHasty: isHasty)
        }
    }

    // MARK: The stream

    /// The page that a stream has for a reader, nil if there is no stream for it.
    private func streamed(
        _ request: ChangeRequest,
        until end: Duration
    ) async throws(StorageError) -> ChangePage? {
        guard let after = request.after,
            let stream = streams.stream(for: request, after: after)
        else { return nil }
        let rest = end - timeline.now
        _ = await timer.run(until: timer.now + rest) {
            await stream.next(after: after, limit: request.limit)
        }
        try checkCancellation()
        switch stream.answer(after: after, limit: request.limit) {
        case .page(let page), .nothing(let page):
            streams.note(page, from: stream)
            return page
        case .elsewhere: return nil
        }
    }

    // MARK: Pages

    private func page(
        _ request: ChangeRequest,
        _ epoch: String?,
        wait: Int64 = 0
    ) async throws(StorageError) -> ChangePage {
        try checkCancellation()
        let result = try await connection.page(request, wait: wait)
        streams.note(epoch: result.epoch)
        streams.note(result.page, from: nil)
        if request.after != nil, let epoch, epoch != result.epoch {
            throw StorageError(.cursorExpired, "the server's data is another than before")
        }
        return result.page
    }

    /// Pauses where that is called for.
    ///
    /// - Returns: How many seconds the next page may wait at the server.
    private func nextWait(
        until end: Duration,
        isHasty: Bool
    ) async throws(StorageError) -> Int64 {
        let longest = connection.configuration.longestPoll
        var rest = min(end - timeline.now, longest)
        if let pause = streams.pause { rest = min(rest, pause) }
        let pause = isHasty ? min(rest, .seconds(1)) : rest < .seconds(1) ? rest : .zero
        guard pause > .zero else { return rest.components.seconds }
        try? await timeline.sleep(until: timeline.now + pause)
        try checkCancellation()
        return isHasty ? min(end - timeline.now, longest).components.seconds : 0
    }

    private func checkCancellation() throws(StorageError) {
        guard Task.isCancelled else { return }
        throw StorageError(.cancelled, "the call was cancelled", cause: CancellationError())
    }
}
