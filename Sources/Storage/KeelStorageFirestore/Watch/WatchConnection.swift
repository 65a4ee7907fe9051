package import KeelCore
package import KeelHTTP
internal import KeelStorageAdapting
internal import Synchronization

/// Follows targets over one channel, which it opens for the first reader and closes after the last.
///
/// A channel that breaks off is replaced, with pauses after failures, and every target continues where it was published
/// last. Readers wait meanwhile; those that wait while an attempt fails receive its error.
///
/// A channel belongs to one user. When another user reads, all targets end, and readers start over.
package actor WatchConnection {
    package struct Configuration: Sendable {
        package var channel: WebChannel.Configuration
        package var clock: any Clock<Duration> = ContinuousClock()
        package var timeout = Duration.seconds(60)
        /// The time after which a target without readers is removed, and the channel with the last target.
        package var grace = Duration.seconds(30)
        /// The age at which a channel with a token is replaced by one with a new token; tokens last an hour.
        package var tokenLifetime = Duration.seconds(55 * 60)
        /// The time for which a server that refused a channel is not asked again.
        package var refusalTime = Duration.seconds(600)
        /// The pauses before the second and later attempts, each ± 50 %.
        package var pauses = RetryPolicy(
            baseDelay: .seconds(1),
            maximumDelay: .seconds(60),
            multiplier: 1.5
        )

        package init(channel: WebChannel.Configuration) { self.channel = channel }
    }

    private struct Follower {
        let subject: WatchSubject
        var log: WatchLog
        let signal = Signal()
        var readers = 0
        var lastUse: Duration
        var isLive = false
        var failure: StorageError?
    }

    private let configuration: Configuration
    private let transport: any HTTPTransport
    private let tokens: (any TokenSource)?
    private let encoding: FirestoreEncoding
    private let decoding: WatchDecoding
    private let timeline: Timeline
    private let timer: DeadlineTimer
    private var machine: WatchMachine
    private var followers: [WatchMachine.TargetID: Follower] = [:]
    private var ids: [WatchSubject: WatchMachine.TargetID] = [:]
    private var nextID: WatchMachine.TargetID = 2
    private var channel: WebChannel?
    private var token: AccessToken?
    private var user: String?
    /// Since the server last accepted one.
    private var isTokenRefused = false
    /// The token that the next channel must not use: it was refused, or is about to expire.
    private var spentToken: AccessToken?
    private var failures = 0
    /// Why the present channel is being closed, if the server broke the protocol.
    private var violation: StorageError?
    private var outage: (number: Int, error: StorageError)?
    private var refusal: (error: StorageError, end: Duration)?
    private var isSweeping = false
    private let runner = Mutex<Task<Void, Never>?>(nil)

    package init(
        _ configuration: Configuration,
        transport: any HTTPTransport,
        tokens: (any TokenSource)?
    ) {
        self.configuration = configuration
        self.transport = transport
        self.tokens = tokens
        let database = configuration.channel.database
        encoding = FirestoreEncoding(database: database)
        decoding = WatchDecoding(database: database)
        machine = WatchMachine(database: database)
        timeline = Timeline(configuration.clock)
        timer = DeadlineTimer.on(configuration.clock)
    }

    /// Waiting readers receive an error.
    nonisolated func shutdown() { runner.withLock { $0 }?.cancel() }

    var targetCount: Int { followers.count }

    // MARK: Readers

    func page(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let subject = try WatchSubject(request)
        if let tokens { follow(for: await tokens.identity) }
        let start = try request.after.map { cursor throws(StorageError) in
            try WatchCursor(cursor, of: subject, for: user).point
        }
        if let refusal, timeline.now < refusal.end { throw refusal.error }
        let id = try enter(subject, from: start)
        defer { leave(id) }
        let begin = timeline.now
        let limit = max(request.waitTimeout ?? .zero, .zero)
        let outages = outage?.number ?? 0
        while true {
            if Task.isCancelled { throw .cancellation }
            if start == nil { reloadIfUnknown(id) }
            guard let follower = followers[id] else { throw Self.ended }
            if let failure = follower.failure { throw failure }
            if let outage, outage.number > outages { throw outage.error }
            let generation = follower.signal.generation
            let isDue = timeline.now - begin >= limit
            if let page = try answer(follower, id, after: start, isDue: isDue) { return page }
            // A reader that begins, or does not wait, needs one publication.
            let needsState = start == nil || limit == .zero
            let end = begin + (needsState ? configuration.timeout : limit)
            guard timeline.now < end else {
                guard let start, !needsState else { throw Self.silence }
                // Without a publication on the present channel, nothing is known about now.
                guard follower.isLive else { throw Self.absence }
                let cursor = WatchCursor(start, for: user).cursor(of: subject)
                return ChangePage(changes: [], next: cursor, isCaughtUp: true, time: start.time)
            }
            let signal = follower.signal
            _ = await timer.run(until: timer.now + (end - timeline.now)) {
                await signal.wait(since: generation)
            }
            // The user may have signed out since the messages arrived.
            if let tokens { follow(for: await tokens.identity) }
        }
    }

    private static var ended: StorageError {
        StorageError(.unavailable, "the stream of changes has been closed")
    }

    private static var absence: StorageError {
        StorageError(.unavailable, "the stream of changes has not been restored yet")
    }

    private static var silence: StorageError {
        StorageError(.timeout, "the server has not sent the result in time")
    }

    private func answer(
        _ follower: Follower,
        _ id: WatchMachine.TargetID,
        after start: WatchMachine.Resumption?,
        isDue: Bool
    ) throws(StorageError) -> ChangePage? {
        guard let point = follower.log.point else { return nil }
        let changes: [ChangePage.Change]
        if let start {
            guard let known = follower.log.changes(after: start.time, number: start.number)
            else {
                throw StorageError(.cursorExpired, "changes since the cursor are unavailable")
            }
            guard !known.isEmpty || isDue && follower.isLive else { return nil }
            changes = known
        } else {
            guard follower.isLive, let members = machine.members(of: id) else { return nil }
            changes = members
        }
        return ChangePage(
            changes: changes,
            next: WatchCursor(point, for: user).cursor(of: follower.subject),
            isCaughtUp: true,
            time: point.time
        )
    }

    private func enter(
        _ subject: WatchSubject,
        from start: WatchMachine.Resumption?
    ) throws(StorageError) -> WatchMachine.TargetID {
        if let id = ids[subject] {
            followers[id]?.readers += 1
            return id
        }
        let content = try subject.content(encoding)
        let id = nextID
        nextID += 2
        ids[subject] = id
        followers[id] = Follower(
            subject: subject,
            log: WatchLog(from: start),
            readers: 1,
            lastUse: timeline.now
        )
        perform(machine.add(id, content, from: start))
        run()
        return id
    }

    /// Requests the whole result for a reader that begins, if it is unknown because it was resumed from an earlier
    /// process.
    private func reloadIfUnknown(_ id: WatchMachine.TargetID) {
        guard let follower = followers[id], follower.log.point != nil,
            machine.members(of: id) == nil
        else { return }
        followers[id]?.log.expire()
        perform(machine.reload(id))
    }

    private func follow(for present: String?) {
        guard let present, present != user else { return }
        defer { user = present }
        guard user != nil else { return }
        (isTokenRefused, spentToken) = (false, nil)
        for id in followers.keys { end(id, Self.userChange) }
        channel?.close()
    }

    private static var userChange: StorageError {
        StorageError(.cursorExpired, "another user has signed in")
    }

    private func leave(_ id: WatchMachine.TargetID) {
        followers[id]?.readers -= 1
        followers[id]?.lastUse = timeline.now
        guard let follower = followers[id], follower.readers == 0 else { return }
        if follower.failure != nil { followers[id] = nil }
        sweepLater()
    }

    private func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        timer.watch(until: timer.now + configuration.grace) { [weak self] in
            Task { await self?.sweep() }
        }
    }

    private func sweep() {
        isSweeping = false
        let idle = followers.filter { $0.value.readers == 0 }
        for (id, follower) in idle where timeline.now - follower.lastUse >= configuration.grace {
            drop(id)
            perform(machine.remove(id))
        }
        if followers.isEmpty { channel?.close() }
        if followers.values.contains(where: { $0.readers == 0 }) { sweepLater() }
    }

    private func drop(_ id: WatchMachine.TargetID) {
        guard let follower = followers.removeValue(forKey: id) else { return }
        if ids[follower.subject] == id { ids[follower.subject] = nil }
        follower.signal.raise()
    }

    private func fail(_ id: WatchMachine.TargetID, _ error: StorageError) {
        guard let follower = followers[id] else { return }
        if ids[follower.subject] == id { ids[follower.subject] = nil }
        followers[id]?.failure = error
        if follower.readers == 0 { followers[id] = nil }
        follower.signal.raise()
    }

    // MARK: The channel

    private func run() {
        runner.withLock { runner in
            guard runner == nil else { return }
            runner = StorageContext.withoutContext { Task { await self.stayConnected() } }
        }
    }

    private func stayConnected() async {
        while !Task.isCancelled, !ids.isEmpty {
            let begin = timeline.now
            let end = await connect()
            channel = nil
            let wasLive = followers.values.contains(where: \.isLive)
            for id in followers.keys { followers[id]?.isLive = false }
            guard !Task.isCancelled, !ids.isEmpty else { break }
            if timeline.now - begin > .seconds(10), wasLive { failures = 0 }
            await recover(from: end, wasLive: wasLive)
        }
        if Task.isCancelled { for id in followers.keys { fail(id, Self.ended) } }
        runner.withLock { $0 = nil }
        // A reader may have come after the last check.
        if !Task.isCancelled, !ids.isEmpty { run() }
    }

    private func connect() async -> WebChannelMachine.End {
        var headers = [
            (name: "google-cloud-resource-prefix", value: configuration.channel.database)
        ]
        do {
            if let tokens {
                let (new, owner) = try await signIn(with: tokens)
                token = new
                follow(for: owner)
                guard !ids.isEmpty else { return .closed }
                headers.append((name: "Authorization", value: "Bearer \(new.value)"))
            }
        } catch {
            // The next attempt asks as for a new request: a source does not repeat a renewal that has failed.
            isTokenRefused = false
            let cause = TransportError(.credentialsUnavailable, cause: error)
            return .lost(StorageError(transport: cause, isWrite: false))
        }
        let requests = machine.reconnect()
        let channel = WebChannel(configuration.channel, transport: transport) {
            [weak self] message in
            await self?.receive(message)
        }
        self.channel = channel
        let age: DeadlineEntry? =
            tokens == nil
            ? nil
            : timer.watch(until: timer.now + configuration.tokenLifetime) { [weak self] in
                Task { await self?.renewToken() }
            }
        let end = await channel.run(headers: headers, messages: Self.messages(requests))
        if let age { timer.end(age) }
        defer { violation = nil }
        return violation.map { .lost($0) } ?? end
    }

    private func nextToken(of tokens: any TokenSource) async throws -> AccessToken {
        guard let spent = spentToken.take() else { return try await tokens.token() }
        do {
            return try await tokens.token(after: spent)
        } catch {
            // The user may have signed in again since the token was issued.
            guard (error as? AuthenticationError)?.code == .superseded else { throw error }
            return try await tokens.token()
        }
    }

    private func signIn(
        with tokens: any TokenSource
    ) async throws -> (token: AccessToken, owner: String?) {
        while true {
            let present = await tokens.identity
            let token = try await nextToken(of: tokens)
            if let origin = token.origin { return (token, origin.identity) }
            // Without an origin, the token may be that of the former user or of the new one.
            if await tokens.identity == present { return (token, present) }
        }
    }

    private func renewToken() {
        spentToken = token
        channel?.close()
    }

    private func recover(from end: WebChannelMachine.End, wasLive: Bool) async {
        var isExhausted = false
        switch end {
        case .closed: return
        case .lost(let error):
            failures += 1
            // A channel that worked is replaced at once.
            guard !wasLive || failures > 1 else { return }
            report(Self.isPassing(error, failures) ? Self.passing(error) : error)
        case .refused(let status, let body):
            let json = try? FirestoreJSON(parsing: body)
            let error = FirestoreRefusal(status: status, json)
                .error(of: FirestoreCall(post: ["listen"], .null))
            if status == 401, retriesToken() { return }
            failures += 1
            isExhausted = status == 429
            if [400, 404, 405, 501].contains(status) || status < 300 {
                refuse(status)
            } else if let reason = json?["error"], reason["status"]?.text != nil {
                report(WatchStatus(reason).error(error.message))
            } else {
                let isFinal = error.isTransient || [401, 403].contains(status)
                report(isFinal ? error : Self.passing(error))
            }
        case .failed(let json):
            let status = WatchStatus(json)
            if status.isUnauthenticated, retriesToken() { return }
            failures += 1
            isExhausted = status.isExhaustion
            report(status.error(json["message"]?.text ?? ""))
        }
        // Readers whose cursors have expired start over at once, others that have ended do not.
        guard !ids.isEmpty || outage?.error.code == .cursorExpired else { return }
        let delay =
            isExhausted
            ? configuration.pauses.maximumDelay
            : configuration.pauses.maximumDelay(before: failures) * Double.random(in: 0.5...1.5)
        try? await timeline.sleep(until: timeline.now + delay)
    }

    /// Whether another attempt may succeed although the server broke the protocol, as with a proxy's page.
    private static func isPassing(_ error: StorageError, _ failures: Int) -> Bool {
        error.code == .invalidReply && failures < 3
    }

    private static func passing(_ error: StorageError) -> StorageError {
        StorageError(.unavailable, error.message, cause: error)
    }

    /// Returns whether a new token is worth an attempt, which has not been made yet.
    private func retriesToken() -> Bool {
        guard tokens != nil, !isTokenRefused else {
            isTokenRefused = false
            return false
        }
        (isTokenRefused, spentToken) = (true, token)
        return true
    }

    /// Tells the waiting readers that an attempt has failed; ends all targets if another would fail, too.
    private func report(_ error: StorageError) {
        outage = ((outage?.number ?? 0) + 1, error)
        for (id, follower) in followers {
            if error.isTransient { follower.signal.raise() } else { end(id, error) }
        }
    }

    private func refuse(_ status: Int) {
        let error = StorageError(
            .unsupported,
            "the server does not offer WebChannel at this address: status \(status)"
        )
        refusal = (error, timeline.now + configuration.refusalTime)
        for id in followers.keys { end(id, error) }
    }

    private func end(_ id: WatchMachine.TargetID, _ error: StorageError) {
        _ = machine.remove(id)
        fail(id, error)
    }

    // MARK: Messages

    private func receive(_ json: FirestoreJSON) {
        // Messages behind a flaw arrive with it, and the state to which they lead lacks what the flaw has hidden.
        guard violation == nil else { return }
        do throws(StorageError) {
            perform(try machine.receive(try decoding.message(json)))
        } catch {
            violation = error
            channel?.close()
        }
    }

    private func perform(_ effects: [WatchMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .send: break
            case .publish(let id, let publication):
                isTokenRefused = false
                followers[id]?.log.append(publication, count: machine.count(of: id))
                followers[id]?.isLive = true
                followers[id]?.signal.raise()
            case .expire(let id): followers[id]?.log.expire()
            case .reload(let id): followers[id]?.isLive = false
            case .fail(let id, let error): fail(id, error)
            }
        }
        let messages = Self.messages(effects)
        // Before a channel is open, each target is requested when it opens.
        if !messages.isEmpty { channel?.send(messages) }
    }

    private static func messages(_ effects: [WatchMachine.Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .send(let json) = effect else { return nil }
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }
}
