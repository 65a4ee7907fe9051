package import HTTPTypes
package import KeelCore
package import KeelHTTP
package import KeelStorageAdapting

/// Follows the changes of a store behind a Keel Sync server.
///
/// A reader that waits for changes is served from a stream that stays open between its calls, or else from pages, for
/// which the feed polls. `Documentation/Protocols/KeelSync.md` describes both.
package final class SyncFeed: Sendable {
    private let connection: FeedConnection
    private let timeline: Timeline
    private let timer: DeadlineTimer
    private let streams: FeedStreams
    private let identity: @Sendable () async -> String?

    /// Creates a feed; sends nothing before the first call.
    ///
    /// - Parameters:
    ///   - transport: The transport of the requests.
    ///   - configuration: The server and the limits.
    ///   - headers: Returns the header fields of each request, such as an authorization.
    ///   - identity: Returns the name of the user for whom requests are sent; nil if it is unknown. Streams of a former
    ///     user are closed.
    package init(
        transport: any HTTPTransport,
        configuration: Configuration,
        headers: @escaping @Sendable () async throws(StorageError) -> HTTPFields = { [:] },
        identity: @escaping @Sendable () async -> String? = { nil }
    ) {
        self.identity = identity
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

    package var streamCount: Int { streams.count }

    /// Closes all streams and prevents new ones; pages can still be read.
    package func close() { streams.close() }

    /// Returns the changes after a position, with the guarantees of `StorageAdapter`.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if the server no longer knows the position, or another user has
    ///   signed in since the last call; `invalidArgument` for a reader's name that the server refuses; `cancelled`
    ///   immediately when the task is canceled.
    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        if let reader = request.reader { try FeedConnection.check(reader) }
        var users = streams.userChangeCount
        await noteUser()
        // A reader that begins has nothing of the former user's.
        if request.after == nil { users = streams.userChangeCount }
        let page = try await waitedPage(request)
        await noteUser()
        // Another user has other rights and results, so the reader starts over.
        guard users == streams.userChangeCount else {
            throw StorageError(.cursorExpired, "another user has signed in")
        }
        return page
    }

    private func noteUser() async {
        if let user = await identity() { streams.note(user: user) }
    }

    private func waitedPage(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
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
            // A reader that starts without a position follows the current epoch.
            if request.after == nil { epoch = streams.epoch }
            request.after = page.next
            if streams.open(request, after: page.next) { continue }
            // A server without capacity for waiting replies immediately, and must not be polled immediately.
            let isHasty = wait > 0 && timeline.now - asked < .seconds(1)
            wait = try await nextWait(until: end, isHasty: isHasty)
        }
    }

    // MARK: Stream

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
            throw StorageError(.cursorExpired, "the server's data has been replaced")
        }
        return result.page
    }

    /// Sleeps if a delay is required; returns the number of seconds that the next page request may wait at the server.
    private func nextWait(
        until end: Duration,
        isHasty: Bool
    ) async throws(StorageError) -> Int64 {
        let longest = connection.configuration.maximumPollDuration
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
        throw StorageError(.cancelled, "the call was canceled", cause: CancellationError())
    }
}

extension SyncFeed {
    package struct Configuration: Sendable {
        /// `http` or `https`.
        package var scheme: String
        /// The server's host, with its port if it is not the scheme's default.
        package var authority: String
        /// The path before `/sync`; empty, or with a leading slash and no trailing slash.
        package var pathPrefix = ""
        /// The scope to follow.
        package var scope = "all"
        package var database: String
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The maximum number of open streams; further readers poll for pages.
        package var mostStreams = 4
        package var idleTimeout = Duration.seconds(60)
        /// The stall timeout of a connection; the server sends something every 15 seconds.
        package var stallTimeout = Duration.seconds(45)
        /// The maximum time that a page request waits at the server, up to 60 seconds.
        package var maximumPollDuration = Duration.seconds(30)
        package var pauses = RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(60))

        package init(scheme: String, authority: String, database: String) {
            self.scheme = scheme
            self.authority = authority
            self.database = database
        }
    }
}
