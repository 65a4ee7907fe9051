import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit

@testable import KeelServing

/// Several clients that listen to one store by two servers, in which everything that can take time does so at random.
///
/// Hubs, mailboxes, the index and sessions are those of the servers. The simulation does what the tasks of
/// ``ListenStream`` do, and what the hubs' readers do, one step at a time: streams overflow, reads fail, hubs give up,
/// and clients move to the other server with their tokens.
struct ListenHubSimulation {
    private enum Read {
        case read(ListenSession.ReadID, ReadOperation)
        case catchUp(ListenSession.ReadID, ChangeCursor, ChangeScope)
    }

    /// The progress of a stream's own reader, as in `ListenStream.follow(_:_:)`.
    private enum Follower {
        case none
        case behind(ChangeCursor)
        case reading(ChangePage)
        case joining(ChangePage)
        case live(ChangeCursor)
    }

    private struct Stream {
        let hub: Int
        let mailbox: ListenMailbox
        var session: ListenSession
        var client: ListenClientModel
        var requests: [ListenRequest] = []
        var reads: [Read] = []
        /// The events of each read that has been done.
        var events: [[ListenSession.Event]] = []
        var follower = Follower.none
        var isEager = false
        var indexed: Set<Int32> = []
        /// Whether the stream has ended, so that its client opens another one.
        var isOver = false

        var hasWork: Bool { !requests.isEmpty || !reads.isEmpty || !events.isEmpty }
    }

    private static let ids: [Int32] = [2, 4, 6]

    private var random: SeededRandom
    private let store: InMemoryStorageAdapter
    private let hubs: [ListenHub]
    /// The readers of the hubs that were known last, and the pages that they have read.
    private var readers: [UInt64] = [0, 0]
    private var pages: [(reader: UInt64, page: ChangePage)?] = [nil, nil]
    private var streams: [Stream] = []
    private var history = ListenHistory()
    private var isSettling = false
    private var hasLostSnapshot = false
    /// The events so far, for the message of a failure.
    private(set) var trace: [String] = []
    private(set) var resumptions = 0
    private(set) var moves = 0
    /// How often a live stream had to read for itself.
    private(set) var falls = 0

    var snapshotCount: Int { streams.reduce(0) { $0 + $1.client.snapshotCount } }

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let store = InMemoryStorageAdapter()
        hubs = (0..<2).map { _ in
            ListenHub(
                adapter: UnreadLog(upstream: store),
                mostWaitingBytes: Bool.random(using: &random) ? 4_000 : 256 << 20,
                mostWaitingChanges: Int.random(in: 1...12, using: &random)
            )
        }
        self.store = store
        self.random = random
        for number in 0..<3 {
            let stream = self.stream(on: number % 2, for: ListenClientModel())
            streams.append(stream)
        }
    }

    private mutating func stream(on hub: Int, for client: ListenClientModel) -> Stream {
        // Doubled often enough, the room of a session is enough for all documents.
        let session = ListenSession(
            mostKeptChanges: Int.random(in: 3...12, using: &random),
            mostNames: Bool.random(using: &random) ? 100 : Int.random(in: 0...8, using: &random)
        )
        return Stream(hub: hub, mailbox: hubs[hub].open(), session: session, client: client)
    }

    // MARK: Running

    mutating func run(steps: Int) async throws {
        try await commit()
        for _ in 0..<steps { try await step() }
        isSettling = true
        var rounds = 0
        while try await settle() {
            rounds += 1
            guard rounds < 10_000 else {
                throw ListenClientModel.Violation("the streams never come to rest")
            }
        }
        for stream in streams {
            for id in stream.client.targets.keys {
                guard let shown = stream.client.shown(id) else {
                    throw ListenClientModel.Violation("target \(id) never becomes current")
                }
                try history.check(shown, of: stream.client.targets[id]?.content, at: nil)
            }
        }
        for stream in streams { hubs[stream.hub].close(stream.mailbox) }
    }

    private mutating func step() async throws {
        let (number, hub) = (pick(streams.count), pick(hubs.count))
        if streams[number].isOver { reconnect(number) }
        switch pick(100) {
        case ..<20: try await commit()
        case ..<27: addTarget(number)
        case ..<30: removeTarget(number)
        case ..<32: reconnect(number)
        case ..<34: try await handle(.beat, number)
        case ..<35: try deny(number)
        case ..<36: giveUp(hub)
        case ..<54: try await turnPage(of: hub)
        case ..<74: try await follow(number)
        case ..<84: try await work(number)
        default: try await deliver(number)
        }
    }

    /// Does what can be done; returns false once all is done.
    private mutating func settle() async throws -> Bool {
        var hasMoved = false
        for number in streams.indices {
            if streams[number].isOver { reconnect(number) }
            if !streams[number].requests.isEmpty || !streams[number].events.isEmpty {
                try await deliver(number)
                hasMoved = true
            } else if !streams[number].reads.isEmpty {
                try await work(number)
                hasMoved = true
            }
            switch streams[number].follower {
            case .none: continue
            case .live where streams[number].mailbox.isLive: break
            case .behind, .reading, .joining, .live: hasMoved = true
            }
            try await follow(number)
        }
        for hub in hubs.indices {
            if try await turnPage(of: hub) { hasMoved = true }
        }
        // The pages of the hub may have led to reads.
        return hasMoved || streams.contains { $0.isOver || $0.hasWork }
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Returns whether one of so many chances has come; never once the simulation ends.
    private mutating func happens(oneIn count: Int) -> Bool {
        guard !isSettling else { return false }
        return pick(count) == 0
    }

    // MARK: The store

    private mutating func commit() async throws {
        let writes = ListenHistory.writes(&random)
        try await history.commit(writes, to: store)
        trace.append("commit \(writes.map(\.path.string))")
    }

    /// Reads a page of the log, as from a store that does not look whether a full page is the last one.
    private mutating func page(after cursor: ChangeCursor) async throws -> ChangePage {
        let limit = Int.random(in: 1...4, using: &random)
        var page = try await store.changes(ChangeRequest(after: cursor, limit: limit))
        if page.changes.count == limit { (page.isCaughtUp, page.time) = (false, nil) }
        return page
    }

    // MARK: Clients

    private mutating func addTarget(_ number: Int) {
        let free = Self.ids.filter { streams[number].client.targets[$0] == nil }
        guard let id = free.randomElement(using: &random) else { return }
        let request = streams[number].client.add(id, ListenHistory.content(&random))
        streams[number].requests.append(request)
    }

    private mutating func removeTarget(_ number: Int) {
        let client = streams[number].client
        let all = client.targets.keys.filter { !client.removed.contains($0) }.sorted()
        guard let id = all.randomElement(using: &random) else { return }
        streams[number].requests.append(streams[number].client.remove(id))
    }

    /// Ends a stream, and lets its client continue with another one, perhaps of the other server.
    private mutating func reconnect(_ number: Int) {
        let former = streams[number]
        hubs[former.hub].close(former.mailbox)
        var client = former.client
        let requests = client.reconnect()
        let hub = pick(hubs.count)
        streams[number] = stream(on: hub, for: client)
        streams[number].requests = requests
        resumptions += requests.count
        if hub != former.hub { moves += 1 }
        trace.append("\(number) reconnects to \(hub)")
    }

    /// Ends the permission for a target that the client and the server agree on.
    private mutating func deny(_ number: Int) throws {
        let stream = streams[number]
        guard stream.requests.isEmpty else { return }
        let all = stream.client.targets.filter { $0.value.pending == 0 }.keys.sorted()
        guard let id = all.randomElement(using: &random) else { return }
        let failure = StreamFailure(.permissionDenied, "the permission has ended")
        try perform(.denied(id, failure), number)
    }

    // MARK: Hubs

    /// Returns the running reader of a hub and its next request.
    private mutating func nextRequest(of hub: Int) -> (reader: UInt64, request: ChangeRequest)? {
        for reader in readers[hub]...(readers[hub] + 64) {
            guard let request = hubs[hub].nextRequest(of: reader) else { continue }
            readers[hub] = reader
            return (reader, request)
        }
        return nil
    }

    /// Reads a page of a hub, or delivers the one that was read; returns whether there was something to do.
    @discardableResult
    private mutating func turnPage(of hub: Int) async throws -> Bool {
        if let (reader, page) = pages[hub] {
            pages[hub] = nil
            trace.append("hub \(hub): \(ListenWords.words(ListenSession.Event.page(page)))")
            hubs[hub].deliver(page, of: reader)
            return true
        }
        guard let (reader, request) = nextRequest(of: hub), let reached = request.after else {
            return false
        }
        let page = try await page(after: reached)
        // A reader that waits returns with changes only.
        let isNews = page.next != reached || page.isCaughtUp && request.waitTimeout == nil
        guard isNews else { return false }
        pages[hub] = (reader, page)
        return true
    }

    /// Makes the streams of a hub read for themselves, as after its position has expired.
    private mutating func giveUp(_ hub: Int) {
        guard let (reader, request) = nextRequest(of: hub), let position = request.after else {
            return
        }
        trace.append("hub \(hub) gives up")
        hubs[hub].restart(at: position, of: reader)
    }

    /// Lets a hub go on while a stream is busy.
    private mutating func meanwhile() async throws {
        if happens(oneIn: 4) { try await turnPage(of: pick(hubs.count)) }
    }

    // MARK: Streams

    /// Follows the log with a stream's own reads up to its end, and then by the hub.
    private mutating func follow(_ number: Int) async throws {
        let (hub, mailbox) = (hubs[streams[number].hub], streams[number].mailbox)
        switch streams[number].follower {
        case .none: return
        case .behind(let cursor):
            guard !happens(oneIn: 40) else {
                streams[number].follower = .none
                return try await handle(.restarted, number)
            }
            hub.attend(mailbox)
            try await meanwhile()
            streams[number].follower = .reading(try await page(after: cursor))
        case .reading(let page):
            streams[number].follower = page.isCaughtUp ? .joining(page) : .behind(page.next)
            try await handle(.page(page), number)
        case .joining(let page):
            guard let time = page.time else { return }
            let point = ListenSession.Point(position: page.next, time: time)
            guard hub.join(mailbox, at: point) else {
                streams[number].follower = .behind(page.next)
                return
            }
            (streams[number].follower, streams[number].indexed) = (.live(page.next), [])
        case .live(let cursor):
            guard mailbox.isLive else {
                falls += 1
                streams[number].follower = .behind(streams[number].session.position ?? cursor)
                return
            }
            try await handle(nil, number)
        }
    }

    /// Does one of the reads that a session asked for.
    private mutating func work(_ number: Int) async throws {
        guard !streams[number].reads.isEmpty else { return }
        let read = streams[number].reads.remove(at: pick(streams[number].reads.count))
        let events: [ListenSession.Event]
        switch read {
        case .read(let id, _) where happens(oneIn: 25):
            events = [.failed(id, StorageError(.unavailable, "the store is away"))]
        case .read(let id, let operation):
            var request = ReadRequest(operation)
            (request.needsPosition, request.needsTime) = (true, true)
            let result = try await store.read(request)
            guard let position = result.position, let time = result.time else { return }
            let point = ListenSession.Point(position: position, time: time)
            switch result.payload {
            case .found(let documents):
                events = ListenSession.Event.loading(
                    id,
                    documents,
                    of: operation,
                    at: point,
                    &random,
                    &hasLostSnapshot
                )
            case .documents(let documents):
                events = [.loaded(id, documents.compactMap { $0 }, at: point)]
            case .values(let values):
                events = [.counted(id, Int(values[0].integerValue ?? 0), at: point)]
            case .names: return
            }
        case .catchUp(let id, _, _) where happens(oneIn: 8): events = [.cannotResume(id)]
        case .catchUp(let id, let cursor, let scope):
            // Without a limit, a page of the store in memory ends at the end of the log.
            let page = try await store.changes(ChangeRequest(after: cursor, scope: scope))
            guard page.isCaughtUp, let time = page.time else {
                throw ListenClientModel.Violation("the log is too long for one page")
            }
            let point = ListenSession.Point(position: page.next, time: time)
            events = [.caughtUp(id, page.changes, at: point)]
        }
        streams[number].events.append(events)
    }

    private mutating func deliver(_ number: Int) async throws {
        let stream = streams[number]
        guard !stream.requests.isEmpty || !stream.events.isEmpty else { return }
        let prefersRequests = Bool.random(using: &random)
        guard stream.events.isEmpty || !stream.requests.isEmpty && prefersRequests else {
            let place = pick(stream.events.count)
            let event = streams[number].events[place].removeFirst()
            if streams[number].events[place].isEmpty { streams[number].events.remove(at: place) }
            return try await handle(event, number)
        }
        try await handle(.request(streams[number].requests.removeFirst()), number)
    }

    /// Handles an event as `ListenStream` does; nil handles the pages of the hub that wait.
    private mutating func handle(_ event: ListenSession.Event?, _ number: Int) async throws {
        let (hub, mailbox) = (hubs[streams[number].hub], streams[number].mailbox)
        switch event {
        case .request(.add(var target))?:
            target.id = streams[number].session.number(target.id)
            hub.add(target.id, target.scope, for: mailbox)
            try await meanwhile()
            try await catchUpWithHub(number)
            try perform(.request(.add(target)), number)
        case .beat?:
            try await catchUpWithHub(number)
            try perform(.beat, number)
        case .restarted?:
            hub.restart(mailbox)
            streams[number].indexed = []
            try perform(.restarted, number)
        case let event?: try perform(event, number)
        case nil: for page in mailbox.take() { try perform(.page(page), number) }
        }
        try await meanwhile()
        try await instructHub(number)
    }

    private mutating func catchUpWithHub(_ number: Int) async throws {
        let mailbox = streams[number].mailbox
        let pages = hubs[streams[number].hub].takePages(of: mailbox)
        try await meanwhile()
        for page in pages { try perform(.page(page), number) }
    }

    private mutating func instructHub(_ number: Int) async throws {
        let (hub, mailbox) = (hubs[streams[number].hub], streams[number].mailbox)
        while !streams[number].isOver {
            let needsAll = streams[number].session.needsEveryPage
            guard needsAll != streams[number].isEager else { break }
            streams[number].isEager = needsAll
            hub.setEager(needsAll, mailbox)
            if needsAll { try await catchUpWithHub(number) }
        }
        guard mailbox.isLive else { return }
        let (indexed, known) = (streams[number].indexed, streams[number].session.equalities)
        let found = known.filter { !indexed.contains($0.key) }
        let forgotten = indexed.filter { known[$0] == nil }
        streams[number].indexed.subtract(forgotten)
        try await meanwhile()
        for target in forgotten { hub.unindex(target, of: mailbox) }
        for (target, (equality, documents)) in found {
            hub.index(target, by: equality, documents: documents, for: mailbox)
            streams[number].indexed.insert(target)
        }
    }

    private mutating func perform(_ event: ListenSession.Event, _ number: Int) throws {
        guard !streams[number].isOver else { return }
        trace.append("\(number) > \(ListenWords.words(event))")
        for effect in streams[number].session.handle(event) {
            switch effect {
            case .read(let id, let operation): streams[number].reads.append(.read(id, operation))
            case .catchUp(let id, let cursor, let scope):
                streams[number].reads.append(.catchUp(id, cursor, scope))
            case .follow(let cursor): streams[number].follower = .behind(cursor)
            case .end(let failure):
                guard case .failed = event else {
                    throw ListenClientModel.Violation("the stream ended: \(failure.message)")
                }
                streams[number].isOver = true
                return
            case .send(let response): try receive(response, number)
            }
        }
    }

    private mutating func receive(_ response: ListenResponse, _ number: Int) throws {
        trace.append("  \(number) < \(ListenWords.words(response))")
        if case .target(let change) = response, change.kind == .remove {
            for id in change.targets {
                hubs[streams[number].hub].remove(id, of: streams[number].mailbox)
            }
            streams[number].indexed.subtract(change.targets)
        }
        let time = try streams[number].client.receive(response)
        streams[number].requests += streams[number].client.takeRequests()
        guard let time else { return }
        let client = streams[number].client
        for id in client.targets.keys where !client.removed.contains(id) {
            guard let shown = client.shown(id) else { continue }
            try history.check(shown, of: client.targets[id]?.content, at: time)
        }
    }
}

/// A store whose log is read by the simulation only: the tasks of hubs wait until they are canceled.
struct UnreadLog: ForwardingStorageAdapter {
    let upstream: any StorageAdapter

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        // Only the cancellation ends it.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
        throw StorageError(.cancelled, "the call was canceled", cause: CancellationError())
    }
}
