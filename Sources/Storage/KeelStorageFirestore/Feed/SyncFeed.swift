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
    /// - Throws: `StorageError/Code/cursorExpired` if the server no longer knows the position, or if another user has
    ///   signed in or the server's data has been replaced since the position was returned; `invalidArgument` for a
    ///   reader's name that the server refuses; `cancelled` immediately when the task is canceled.
    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        if let reader = request.reader { try FeedConnection.check(reader) }
        // A reader that begins has nothing of a former user or of former data.
        var session: ChangeCursor.Session?
        if let after = request.after {
            // A stored position names neither, and continues for the user and the data of the last call.
            let last = streams.session
            session = ChangeCursor.Session(
                user: after.session?.user ?? last.user,
                epoch: after.session?.epoch ?? last.epoch
            )
        }
        await noteUser()
        try check(session)
        let users = streams.userChangeCount
        var result = try await waitedPage(request, session?.epoch)
        await noteUser()
        let user = streams.session.user ?? session?.user
        try check(session)
        // The user may have changed and returned meanwhile.
        guard users == streams.userChangeCount else { throw Self.userChange }
        result.page.next.session = ChangeCursor.Session(user: user, epoch: result.epoch)
        return result.page
    }

    /// Returns the session to name in the position of a request that is sent afterwards.
    ///
    /// If the user or the data changes during the request, the position expires.
    func session() async -> ChangeCursor.Session {
        await noteUser()
        return streams.session
    }

    private func check(_ session: ChangeCursor.Session?) throws(StorageError) {
        let present = streams.session
        // Another user has other rights and results, so the reader starts over.
        if let user = session?.user, let other = present.user, user != other {
            throw Self.userChange
        }
        if let epoch = session?.epoch, let other = present.epoch, epoch != other {
            throw Self.replacement
        }
    }

    private static var userChange: StorageError {
        StorageError(.cursorExpired, "another user has signed in")
    }

    private static var replacement: StorageError {
        StorageError(.cursorExpired, "the server's data has been replaced")
    }

    private func noteUser() async {
        if let user = await identity() { streams.note(user: user) }
    }

    /// `epoch` is nil if the reader begins, or the epoch of its position is unknown.
    private func waitedPage(
        _ request: ChangeRequest,
        _ epoch: String?
    ) async throws(StorageError) -> FeedConnection.Page {
        guard let limit = request.waitTimeout, limit > .zero else {
            return try await page(request, epoch)
        }
        let end = timeline.now + limit
        var (request, epoch) = (request, epoch)
        var wait = Int64(0)
        while true {
            if let result = try await streamed(request, until: end) { return result }
            let asked = timeline.now
            let result = try await page(request, epoch, wait: wait)
            let (next, isOver) = (result.page.next, timeline.now >= end)
            guard result.page.changes.isEmpty, result.page.isCaughtUp, !isOver else {
                return result
            }
            (request.after, epoch) = (next, result.epoch)
            if streams.open(request, after: next) { continue }
            // A server without capacity for waiting replies immediately, and must not be polled immediately.
            let isHasty = wait > 0 && timeline.now - asked < .seconds(1)
            wait = try await nextWait(until: end, isHasty: isHasty)
        }
    }

    // MARK: Stream

    private func streamed(
        _ request: ChangeRequest,
        until end: Duration
    ) async throws(StorageError) -> FeedConnection.Page? {
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
            return FeedConnection.Page(page: page, epoch: stream.epoch)
        case .elsewhere: return nil
        }
    }

    // MARK: Pages

    private func page(
        _ request: ChangeRequest,
        _ epoch: String?,
        wait: Int64 = 0
    ) async throws(StorageError) -> FeedConnection.Page {
        try checkCancellation()
        let result = try await connection.page(request, wait: wait)
        streams.note(epoch: result.epoch)
        streams.note(result.page, from: nil)
        if let epoch, epoch != result.epoch { throw Self.replacement }
        return result
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
