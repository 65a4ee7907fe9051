internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore
internal import Synchronization

/// Serves a stream of Firestore's Listen method from a store, over any carrier.
///
/// While a message is being sent, the stream takes neither changes nor requests. When too many changes wait, it reads
/// the log for itself.
final class ListenStream: Sendable {
    private indirect enum Work: Sendable {
        case heartbeat
        case read(ListenSession.ReadID, ReadOperation)
        case catchUp(ListenSession.ReadID, after: ChangeCursor, ChangeScope)
        case follow(ChangeCursor, UInt64)
        /// Take the pages of the hub, or go on without it.
        case pages
        case review(Int32, UInt64)
        case end(after: Duration)
    }

    private struct Permission {
        let number: UInt64
        let end: DeadlineEntry
    }

    private struct State {
        var session: ListenSession
        /// Distinguishes the current follower of the log from those before a restart.
        var follower: UInt64 = 0
        /// Whether it reads the log for itself, or is about to.
        var isReadingLog = false
        var isEager = false
        var indexed: Set<Int32> = []
        var hasSent = false
        /// The number of own reads of the log that have failed in succession, also across restarts.
        var failures = 0
        /// The watch for the next heartbeat, while the stream runs.
        var nextBeat: DeadlineEntry?
        var isBeating = false
        var isOver = false
        var failure: StreamFailure?
        var reads = 0
        var permissions: [Int32: Permission] = [:]
        var nextPermission: UInt64 = 0
    }

    let hub: ListenHub
    private let mailbox: ListenMailbox
    let configuration: Configuration
    private let timer: DeadlineTimer
    private let send: @Sendable (ListenResponse) async throws -> Void
    private let state: Mutex<State>
    /// Admits one event at a time, so that messages keep their order.
    private let turns = TaskQueue()
    private let (work, works) = AsyncStream.makeStream(of: Work.self)

    let share: ListenShare
    /// The size of the pages of the log that the session keeps, in bytes.
    private let kept: CountedBytes
    /// The size of such pages, and of the documents of each read at once, for which a stream always has room.
    static let guaranteedBytes = 1 << 20
    /// The maximum number of reads that wait or are under way, including those of removed targets.
    private static let mostReads = 4 * ListenSession.mostTargets

    var adapter: any StorageAdapter { hub.adapter }

    init(
        hub: ListenHub,
        configuration: Configuration = Configuration(),
        send: @escaping @Sendable (ListenResponse) async throws -> Void
    ) {
        self.hub = hub
        self.configuration = configuration
        self.send = send
        share = ListenShare(of: hub.enter(as: configuration.caller), in: hub)
        let session = ListenSession(
            mostKeptBytes: max(share.mostBytes, 2 * Self.guaranteedBytes),
            mostWindowBytes: configuration.mostBytesAtOnce,
            mostNames: configuration.mostNames,
            joinsCurrent: configuration.joinsCurrent
        )
        state = Mutex(State(session: session))
        timer = .on(configuration.clock)
        mailbox = hub.open { [works] in works.yield(.pages) }
        kept = CountedBytes(in: share.caller.held)
    }

    deinit {
        hub.close(mailbox)
        hub.leave(share.caller)
    }

    /// Serves a client's requests until they end, the task is canceled, or the stream fails.
    ///
    /// - Returns: The status for the client; nil if the client has ended the stream, or is gone.
    func run<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) async -> StreamFailure? where Requests.Element == ListenRequest {
        guard adapter.capabilities.contains(.changeLog) else {
            return StreamFailure(.unimplemented, "listening needs a store with a change log")
        }
        state.withLock { $0.nextBeat = watch() }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.take(requests) }
                for await work in work { group.addTask { await self.perform(work) } }
                group.cancelAll()
            }
        } onCancel: {
            works.finish()
        }
        return state.withLock { state in
            if let beat = state.nextBeat.take() { timer.end(beat) }
            for permission in state.permissions.values { timer.end(permission.end) }
            state.permissions = [:]
            return state.failure
        }
    }

    func end(_ failure: StreamFailure? = nil) {
        state.withLock { state in
            state.failure = state.failure ?? failure
            state.isOver = true
        }
        works.finish()
    }

    /// Ends the stream after a failure, and sends nothing from now on.
    private func fail(_ failure: StreamFailure) {
        guard failure.status == .unavailable else { return end(failure) }
        state.withLock { state in
            state.failure = state.failure ?? failure
            state.isOver = true
            state.session = ListenSession()
            // Ends the follower of the log.
            state.follower += 1
        }
        kept.set(0)
        // Nothing is collected for the stream during the pause.
        hub.close(mailbox)
        mailbox.fallBehind()
        let pause = configuration.pauseBeforeEnd * Double.random(in: 0.5...1.5)
        works.yield(.end(after: pause))
    }

    // MARK: Events

    private func take<Requests: AsyncSequence>(
        _ requests: Requests
    ) async where Requests.Element == ListenRequest {
        do {
            for try await request in requests {
                // A task keeps the memory of its deepest call until it ends, and this one mostly waits.
                async let handling: Void = handle(.request(request))
                await handling
            }
        } catch {
            // Of other errors, the client is gone.
            return end(error as? StreamFailure)
        }
        end()
    }

    /// Handles an event, or with nil the pages of the hub that wait, unless it comes from a follower of the log that
    /// has been replaced.
    func handle(_ event: ListenSession.Event?, of follower: UInt64? = nil) async {
        guard await turns.enter() else { return }
        defer { turns.leave() }
        await handleNow(event, of: follower)
    }

    private func handleNow(_ event: ListenSession.Event?, of follower: UInt64?) async {
        guard follower.map(isCurrent) ?? true, !state.withLock(\.isOver) else { return }
        switch event {
        case .request(.add(var target)):
            target.id = state.withLock { $0.session.number(target.id) }
            if let failure = await denial(of: target.content, target.id) {
                await perform(.request(.reject(target.id, failure)))
                break
            }
            // The hub gives the target's changes behind this position, which the session must reach before it reads.
            hub.add(target.id, target.scope, for: mailbox)
            await catchUpWithHub()
            await perform(.request(.add(target)))
        case .beat:
            await catchUpWithHub()
            await perform(.beat)
        case .restarted:
            hub.restart(mailbox)
            state.withLock { $0.indexed = [] }
            await perform(.restarted)
        case .page(let page): await perform(page)
        case let event?: await perform(event)
        case nil: for page in mailbox.take() { await perform(page) }
        }
        await instructHub()
    }

    private func isCurrent(_ follower: UInt64) -> Bool {
        state.withLock { $0.follower == follower }
    }

    private func catchUpWithHub() async {
        for page in hub.takePages(of: mailbox) { await perform(page) }
    }

    private func instructHub() async {
        while true {
            let (needsAll, isEager) = state.withLock { state in
                let needsAll = state.session.needsEveryPage
                defer { state.isEager = needsAll }
                return (needsAll, state.isEager)
            }
            guard needsAll != isEager else { break }
            hub.setEager(needsAll, mailbox)
            // The hub may have passed the position that the session waits for.
            if needsAll { await catchUpWithHub() }
        }
        guard mailbox.isLive else { return }
        let (found, forgotten) = state.withLock { state in
            let known = state.session.equalities
            let forgotten = state.indexed.filter { known[$0] == nil }
            state.indexed.subtract(forgotten)
            return (known.filter { !state.indexed.contains($0.key) }, forgotten)
        }
        for target in forgotten { hub.unindex(target, of: mailbox) }
        for (target, (equality, documents)) in found {
            hub.index(target, by: equality, documents: documents, for: mailbox)
            state.withLock { _ = $0.indexed.insert(target) }
        }
    }

    private func perform(_ page: ChangePage) async {
        if configuration.permission != nil, !page.changes.isEmpty { await review() }
        await perform(.page(page))
    }

    private func perform(_ event: ListenSession.Event) async {
        let (effects, size) = state.withLock { state -> ([ListenSession.Effect], Int) in
            // Effects from before the end were dropped, so a later point would not be consistent.
            guard !state.isOver else { return ([], 0) }
            return (state.session.handle(event), state.session.kept.bytes)
        }
        kept.set(size)
        if size > Self.guaranteedBytes, isFull(besides: 0) {
            // The client resumes the stream, perhaps on another server.
            return fail(StreamFailure(listening: Self.hasNoRoom))
        }
        for effect in effects {
            switch effect {
            case .read(let id, let operation):
                guard begin(.read(id, operation)) else { return }
            case .catchUp(let id, let cursor, let scope):
                guard begin(.catchUp(id, after: cursor, scope)) else { return }
            case .follow(let cursor):
                let follower = state.withLock { state in
                    state.follower += 1
                    state.isReadingLog = true
                    return state.follower
                }
                works.yield(.follow(cursor, follower))
            case .end(let failure): return fail(failure)
            case .send(let response):
                if case .target(let change) = response, change.kind == .remove {
                    for id in change.targets { forget(id) }
                }
                state.withLock { $0.hasSent = true }
                do { try await send(response) } catch { return end() }
            }
        }
    }

    private func forget(_ id: Int32) {
        hub.remove(id, of: mailbox)
        let permission = state.withLock { state in
            state.indexed.remove(id)
            return state.permissions.removeValue(forKey: id)
        }
        if let permission { timer.end(permission.end) }
    }

    /// Starts a read in a task of its own; ends the stream and returns false if too many wait.
    private func begin(_ read: Work) -> Bool {
        let count = state.withLock { state in
            state.reads += 1
            return state.reads
        }
        guard count <= Self.mostReads else {
            let message = "the stream adds and removes targets faster than they can be read"
            end(StreamFailure(.resourceExhausted, message))
            return false
        }
        works.yield(read)
        return true
    }

    /// Tells a quiet client the stream's position, from which it can resume.
    private func beat() async {
        await handle(.beat)
        state.withLock { $0.isBeating = false }
    }

    private func watch() -> DeadlineEntry {
        timer.watch(until: timer.now + configuration.heartbeat) { [weak self] in self?.look() }
    }

    private func look() {
        let isQuiet = state.withLock { state in
            guard state.nextBeat != nil else { return false }
            state.nextBeat = watch()
            defer { state.hasSent = false }
            guard !state.hasSent, !state.isBeating else { return false }
            state.isBeating = true
            return true
        }
        if isQuiet { works.yield(.heartbeat) }
    }

    // MARK: Permissions

    /// Returns why the client may not listen to a target; nil if it may, perhaps for a time.
    private func denial(of content: ListenTarget.Content, _ id: Int32) async -> StreamFailure? {
        if case .query(let query) = content {
            do throws(StorageError) {
                try configuration.checkIndexes?(.query(query))
            } catch { return StreamFailure(error) }
        }
        switch await permission(for: content) {
        case .denied(let failure)?: return failure
        case .granted(let time?)?:
            let former = state.withLock { state in
                state.nextPermission += 1
                let number = state.nextPermission
                // Many streams share one sleeping task.
                let end = timer.watch(until: timer.now + time) { [works] in
                    works.yield(.review(id, number))
                }
                return state.permissions.updateValue(.init(number: number, end: end), forKey: id)
            }
            if let former { timer.end(former.end) }
        case .granted(for: nil)?, nil: break
        }
        return nil
    }

    private func permission(for content: ListenTarget.Content) async -> ListenPermission? {
        await configuration.permission?(content, configuration.principal)
    }

    private func review() async {
        for (id, content) in state.withLock(\.session.contents) {
            if case .denied(let failure)? = await permission(for: content) {
                await perform(.denied(id, failure))
            }
        }
    }

    private func renew(_ id: Int32, _ number: UInt64) async {
        guard await turns.enter() else { return }
        defer { turns.leave() }
        let content = state.withLock { state in
            state.permissions[id]?.number == number ? state.session.contents[id] : nil
        }
        guard let content, let failure = await denial(of: content, id) else { return }
        await perform(.denied(id, failure))
    }

    // MARK: The store

    /// Returns whether a target waits for a read, for more of its documents, or for their names.
    func isWaiting(for read: ListenSession.ReadID) -> Bool {
        state.withLock { state in
            state.session.target(of: read) != nil || state.session.target(naming: read) != nil
        }
    }

    private func perform(_ work: Work) async {
        switch work {
        case .heartbeat: await beat()
        case .review(let id, let number): await renew(id, number)
        case .read(let id, let operation):
            await read(id, operation)
            state.withLock { $0.reads -= 1 }
        case .catchUp(let id, let cursor, let scope):
            await catchUp(id, cursor, scope)
            state.withLock { $0.reads -= 1 }
        case .follow(let cursor, let follower):
            await follow(cursor, follower)
        case .pages: await takePages()
        case .end(let pause):
            try? await configuration.clock.sleep(for: pause)
            works.finish()
        }
    }

    /// Follows the log from a position: with own reads up to its end, and then by the hub.
    private func follow(_ cursor: ChangeCursor, _ follower: UInt64) async {
        guard await reachHub(from: cursor, follower) else { return }
        state.withLock { state in
            guard state.follower == follower else { return }
            (state.isReadingLog, state.indexed) = (false, [])
        }
        await takePages()
    }

    /// Handles the pages of the hub, and follows the log again if the stream has fallen behind.
    private func takePages() async {
        let follower = state.withLock(\.follower)
        await handle(nil, of: follower)
        guard !mailbox.isLive else { return }
        let position = state.withLock { state -> ChangeCursor? in
            guard state.follower == follower, !state.isReadingLog, !state.isOver,
                let position = state.session.position
            else { return nil }
            state.isReadingLog = true
            return position
        }
        guard let position else { return }
        // If the store refuses only the hub, the stream would reach it again and again, and receive nothing.
        if let error = mailbox.failure {
            return fail(StreamFailure(.unavailable, error.message))
        }
        works.yield(.follow(position, follower))
    }

    /// Reads the log from a position up to the changes that the hub has.
    ///
    /// - Returns: Whether the hub goes on; false if the stream no longer follows.
    private func reachHub(from start: ChangeCursor, _ follower: UInt64) async -> Bool {
        var request = ChangeRequest(after: start)
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled, isCurrent(follower) {
            hub.attend(mailbox)
            do throws(StorageError) {
                let page = try await adapter.changes(request)
                state.withLock { $0.failures = 0 }
                await handle(.page(page), of: follower)
                let hasMoved = page.next != request.after
                request.after = page.next
                if page.isCaughtUp {
                    guard let time = page.time else { throw Self.lacksTimes }
                    let point = ListenSession.Point(position: page.next, time: time)
                    if hub.join(mailbox, at: point) { return true }
                }
                // A replica may lag behind the hub, so that an immediate read is useless.
                request.waitTimeout = hasMoved || !page.isCaughtUp ? nil : .seconds(1)
            } catch {
                guard !Task.isCancelled else { return false }
                let failures = state.withLock { state in
                    state.failures += 1
                    return state.failures
                }
                let isExpired = error.code == .cursorExpired
                guard isExpired || error.isTransient || error.isCancellation,
                    failures < ListenHub.mostFailures
                else {
                    fail(StreamFailure(listening: error))
                    return false
                }
                // The position of a new read that has expired, too, is not left at once.
                if !isExpired || failures > 1 {
                    let pause = RetryPolicy.listening.delay(before: failures, using: &generator)
                    try? await configuration.clock.sleep(for: pause)
                }
                if isExpired {
                    await handle(.restarted, of: follower)
                    return false
                }
            }
        }
        return false
    }
}
