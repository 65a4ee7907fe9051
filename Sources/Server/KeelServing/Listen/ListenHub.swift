internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Reads a store's change log once for all Listen streams, and gives each stream the changes that concern its targets.
///
/// A stream that is behind, for example after it has resumed from a token, reads for itself until it reaches the hub. A
/// stream that no change concerns is not woken: it asks for the hub's position when needed.
///
/// The reader starts with the first stream that reaches the end of the log, and ends with the last stream.
final class ListenHub: Sendable {
    fileprivate struct State {
        var nextID: UInt64 = 0
        var streams: [UInt64: ListenMailbox] = [:]
        var scopes: [UInt64: [Int32: ChangeScope]] = [:]
        var index = TargetIndex()
        var eager: Set<UInt64> = []
        /// The streams with changes since the last consistent point.
        var staged: Set<UInt64> = []
        /// The streams that have read for themselves, until a consistent point after their reads.
        ///
        /// They may have documents in states that no page of the hub has shown.
        var strays: Set<UInt64> = []
        /// The positions at which strays have become live.
        var joined: [UInt64: ChangeCursor] = [:]
        var unseen = UnseenStates()
        var reader: Task<Void, Never>?
        var failures = 0
        var generation: UInt64 = 0
        /// The position at which the reader started; nil while it is not running.
        var start: ChangeCursor?
        var reached: ChangeCursor?
        var consistent: ListenSession.Point?
        var holds = 0
        var callers: [CallerID: (caller: ListenCaller, streams: Int)] = [:]
    }

    let adapter: any StorageAdapter
    let clock: any Clock<Duration>
    /// The maximum number of reads of queries, of ten or more documents, and of changes since a token at the same time.
    static let mostReads = 8
    /// Admits such reads, for example those of thousands of clients that reconnect at once.
    let reads = TaskQueue(admitting: ListenHub.mostReads)
    /// The number of requests for changes that fail in succession until streams end: about 25 seconds with the pauses
    /// between them.
    ///
    /// Clients must know that they receive no changes; their next streams try the store again.
    static let mostFailures = 10
    /// The maximum number of states that the store holds for streams, because other calls need some, too.
    static let mostHolds = 4
    private let changeReader = ChangeReader(server: "listen")
    private let state = Mutex(State())
    /// The approximate size of the changes that wait for streams or are kept for reads, and of the documents that are
    /// being sent, in bytes.
    ///
    /// A document that waits for several streams is counted once.
    let waiting = ByteCount()
    /// The approximate limit of ``waiting``, in bytes.
    let mostWaitingBytes: Int
    private let mostWaitingChanges: Int

    var waitingBytes: Int { waiting.value }

    var isFull: Bool { isFull(besides: 0) }

    /// Returns whether more than the limit waits, apart from some bytes.
    func isFull(besides bytes: Int) -> Bool { waiting.value - bytes > mostWaitingBytes }

    /// The size of the documents that a stream may read to send them, in bytes.
    var room: Int { max(Self.leastRoom, mostWaitingBytes - waiting.value) }

    /// The size of the documents that a stream may always read, in bytes.
    static let leastRoom = 16 << 10

    /// Creates a hub for the streams of a store.
    ///
    /// Streams read for themselves while too many changes would wait for one of them, or too many bytes for all.
    init(
        adapter: any StorageAdapter,
        clock: any Clock<Duration> = ContinuousClock(),
        mostWaitingBytes: Int = 256 << 20,
        mostWaitingChanges: Int = 10_000
    ) {
        self.adapter = adapter
        self.clock = clock
        self.mostWaitingBytes = mostWaitingBytes
        self.mostWaitingChanges = mostWaitingChanges
    }

    deinit { state.withLock { $0.reader }?.cancel() }

    /// Returns whether the store may hold another state for a caller, until ``endHold(for:)``.
    func beginHold(for caller: ListenCaller) -> Bool {
        state.withLock { state in
            guard state.holds < Self.mostHolds, caller.beginHold() else { return false }
            state.holds += 1
            return true
        }
    }

    func endHold(for caller: ListenCaller) {
        state.withLock { $0.holds -= 1 }
        caller.endHold()
    }

    // MARK: Streams

    /// Returns the caller of a new stream, until ``leave(_:)``.
    func enter(as id: CallerID?) -> ListenCaller {
        guard let id else { return ListenCaller(in: self) }
        return state.withLock { state in
            let known = state.callers[id] ?? (caller: ListenCaller(id, in: self), streams: 0)
            state.callers[id] = (caller: known.caller, streams: known.streams + 1)
            return known.caller
        }
    }

    func leave(_ caller: ListenCaller) {
        guard let id = caller.id else { return }
        state.withLock { state in
            guard let streams = state.callers[id]?.streams else { return }
            state.callers[id] = streams > 1 ? (caller: caller, streams: streams - 1) : nil
        }
    }

    /// Adds a stream.
    ///
    /// `onNews` is called when there are pages to take, or the stream has fallen behind; it must return at once.
    func open(onNews: @escaping @Sendable () -> Void = {}) -> ListenMailbox {
        state.withLock { state in
            state.nextID += 1
            let mailbox = ListenMailbox(
                id: state.nextID,
                in: waiting,
                mostChanges: mostWaitingChanges,
                onNews: onNews
            )
            state.streams[mailbox.id] = mailbox
            return mailbox
        }
    }

    func close(_ mailbox: ListenMailbox) {
        let reader = state.withLock { state -> Task<Void, Never>? in
            state.streams[mailbox.id] = nil
            state.eager.remove(mailbox.id)
            state.staged.remove(mailbox.id)
            state.strays.remove(mailbox.id)
            state.joined[mailbox.id] = nil
            for (target, scope) in state.scopes.removeValue(forKey: mailbox.id) ?? [:] {
                state.index.remove(.init(stream: mailbox.id, target: target), for: scope)
            }
            guard state.streams.isEmpty else { return nil }
            state.failures = 0
            return state.stop()
        }
        reader?.cancel()
    }

    /// Adds a target; the stream receives its changes from the hub's position on.
    func add(_ target: Int32, _ scope: ChangeScope, for mailbox: ListenMailbox) {
        state.withLock { state in
            let key = TargetIndex.Key(stream: mailbox.id, target: target)
            let former = state.scopes[mailbox.id, default: [:]].updateValue(scope, forKey: target)
            // A client that adds a target twice ends its stream, of which nothing must remain here.
            if let former { state.index.remove(key, for: former) }
            state.index.insert(key, for: scope)
            // Pages that were collected before lack the target's changes.
            mailbox.restart(from: state.reached)
        }
    }

    func remove(_ target: Int32, of mailbox: ListenMailbox) {
        state.withLock { state in
            guard let scope = state.scopes[mailbox.id]?.removeValue(forKey: target) else { return }
            state.index.remove(.init(stream: mailbox.id, target: target), for: scope)
        }
    }

    /// From now on, finds a target by a condition, given its documents at the stream's position.
    func index(
        _ target: Int32,
        by equality: TargetIndex.Equality,
        documents: Set<DocumentPath>,
        for mailbox: ListenMailbox
    ) {
        state.withLock { state in
            guard mailbox.isLive, let scope = state.scopes[mailbox.id]?[target] else { return }
            let key = TargetIndex.Key(stream: mailbox.id, target: target)
            state.index.remove(key, for: scope)
            // Changes that the stream has not taken yet may have added documents.
            state.index.insert(key, equality, documents: documents.union(mailbox.waitingPaths))
        }
    }

    /// Finds a target by its scope again, when its stream has forgotten the documents.
    func unindex(_ target: Int32, of mailbox: ListenMailbox) {
        state.withLock { $0.unindex(target, of: mailbox.id) }
    }

    var indexedDocumentCount: Int { state.withLock(\.index.documentCount) }

    /// Makes a stream read for itself, and finds all of its targets by their scopes again.
    func restart(_ mailbox: ListenMailbox) {
        state.withLock { state in
            mailbox.fallBehind()
            state.unindex(mailbox.id)
        }
    }

    func setEager(_ isEager: Bool, _ mailbox: ListenMailbox) {
        state.withLock { state in
            if isEager {
                state.eager.insert(mailbox.id)
            } else {
                state.eager.remove(mailbox.id)
            }
        }
    }

    /// Takes the pages that wait for a live stream, and an empty page at the hub's position.
    func takePages(of mailbox: ListenMailbox) -> [ChangePage] {
        // In one step: a stream that fell behind in between would skip the changes that it has not taken.
        state.withLock { state in
            let pages = mailbox.take()
            guard mailbox.isLive, let page = state.page else { return pages }
            return pages + [page]
        }
    }

    // MARK: Going live

    /// Starts to collect pages for a stream, before it reads one itself.
    func attend(_ mailbox: ListenMailbox) {
        state.withLock { state in
            state.strays.insert(mailbox.id)
            state.joined[mailbox.id] = nil
            mailbox.attend(from: state.reached)
        }
    }

    /// Connects a stream to the reader, after its own read has reached the end of the log.
    ///
    /// - Returns: Whether the stream is live; otherwise it has to read again.
    func join(_ mailbox: ListenMailbox, at point: ListenSession.Point) -> Bool {
        state.withLock { state in
            let start = state.start ?? begin(&state, at: point)
            guard mailbox.join(at: point.position, start: start) else { return false }
            state.joined[mailbox.id] = point.position
            return true
        }
    }

    private func begin(_ state: inout State, at point: ListenSession.Point) -> ChangeCursor {
        (state.start, state.reached, state.consistent) = (point.position, point.position, point)
        state.generation += 1
        state.reader = startReader(state.generation, after: state.failures)
        return point.position
    }
}

extension ListenHub.State {
    fileprivate var page: ChangePage? {
        guard let reached else { return nil }
        let isCaughtUp = consistent?.position == reached
        let time = isCaughtUp ? consistent?.time : nil
        return ChangePage(changes: [], next: reached, isCaughtUp: isCaughtUp, time: time)
    }

    fileprivate mutating func unindex(_ stream: UInt64) {
        for target in (scopes[stream] ?? [:]).keys { unindex(target, of: stream) }
    }

    fileprivate mutating func unindex(_ target: Int32, of stream: UInt64) {
        guard let scope = scopes[stream]?[target] else { return }
        let key = TargetIndex.Key(stream: stream, target: target)
        index.remove(key, for: scope)
        index.insert(key, for: scope)
    }

    fileprivate mutating func settleStrays(at point: ChangeCursor) {
        for (stream, position) in joined where position <= point {
            strays.remove(stream)
            joined[stream] = nil
        }
    }

    /// Resets the reader and returns its task, which the caller must cancel.
    ///
    /// Targets are found by their scopes again, because the next reader may skip changes.
    fileprivate mutating func stop() -> Task<Void, Never>? {
        for stream in scopes.keys { unindex(stream) }
        generation += 1
        (start, reached, consistent, staged) = (nil, nil, nil, [])
        (strays, joined, unseen) = ([], [:], UnseenStates())
        return reader.take()
    }
}

extension ListenHub: ChangeReading {
    func nextRequest(of reader: UInt64) -> ChangeRequest? {
        state.withLock { state in
            guard state.generation == reader, let reached = state.reached else { return nil }
            // Behind a page that is not the last one, a page without changes may follow that is.
            let isCaughtUp = state.consistent?.position == reached
            var request = ChangeRequest(
                after: reached,
                waitTimeout: isCaughtUp ? .seconds(30) : nil
            )
            request.reader = changeReader
            return request
        }
    }

    func deliver(_ page: ChangePage, of reader: UInt64) {
        state.withLock { state in
            guard state.generation == reader else { return }
            state.failures = 0
            var changes: [UInt64: [Int]] = [:]
            var bodies: [Int: BufferedBytes] = [:]
            state.unseen.begin(page)
            for (position, change) in page.changes.enumerated() {
                var streams = Set(state.index.targets(of: change).map(\.stream))
                if state.unseen.precede(change) { streams.formUnion(state.strays) }
                for stream in streams { changes[stream, default: []].append(position) }
                guard !streams.isEmpty, case .current(let document) = change else { continue }
                bodies[position] = BufferedBytes(document.body.bytes, in: waiting)
            }
            state.unseen.end(page)
            state.reached = page.next
            if page.isCaughtUp {
                state.settleStrays(at: page.next)
                if let time = page.time {
                    state.consistent = .init(position: page.next, time: time)
                }
            }
            // Streams with changes since the last consistent point get the next one, even without further changes.
            for stream in page.isCaughtUp ? state.eager.union(state.staged) : state.eager {
                changes[stream, default: []] += []
            }
            state.staged = page.isCaughtUp ? [] : state.staged.union(changes.keys)
            for (stream, positions) in changes {
                var part = page
                part.changes = positions.map { page.changes[$0] }
                let mailbox = state.streams[stream]
                let fallsBehind = mailbox?.push(part, positions.compactMap { bodies[$0] })
                // The index would note documents for the stream as long as its client takes nothing.
                if fallsBehind == true { state.unindex(stream) }
            }
        }
        makeRoom()
    }

    /// While too much waits, makes the streams with the largest backlogs read for themselves.
    private func makeRoom() {
        guard isFull else { return }
        let largest = state.withLock { Array($0.streams.values) }
            .map { (mailbox: $0, bytes: $0.waitingBytes) }
            .filter { $0.bytes > 0 }
            .sorted { $0.bytes > $1.bytes }
        for (mailbox, _) in largest {
            guard isFull else { return }
            restart(mailbox)
        }
    }

    func restart(at _: ChangeCursor, of reader: UInt64) { giveUp(reader) }

    func fail(_ error: StorageError, failures: Int, of reader: UInt64) -> Bool {
        let isLasting = state.withLock { state in
            guard state.generation == reader else { return false }
            state.failures = failures
            return failures >= Self.mostFailures
        }
        if isLasting { giveUp(reader, because: error) }
        return true
    }

    /// Makes all streams read for themselves: each checks its own position.
    ///
    /// With an error, live streams end instead.
    private func giveUp(_ reader: UInt64, because error: StorageError? = nil) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.generation == reader else { return nil }
            // Clients that reconnect try the store again.
            if error != nil { state.failures = 0 }
            for mailbox in state.streams.values { mailbox.fallBehind(because: error) }
            return state.stop()
        }
        task?.cancel()
    }
}

extension ChangeReader {
    /// Creates the reader of a server's hub.
    ///
    /// Each server and each start has a name of its own. The store retains changes for an earlier one for an hour, in
    /// which its listeners reconnect.
    init(server hub: String) {
        let instance = String(UInt64.random(in: .min ... .max), radix: 36)
        self.init("keel.server.\(hub).\(instance)", lifetime: .seconds(3_600))
    }
}
