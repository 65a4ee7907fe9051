import KeelStorage
import KeelStorageAdapting
import KeelTestKit

@testable import KeelServing

/// A stream between a store in memory and a client model, in which everything that can take time does so at random.
struct ListenSimulation {
    private enum Pending {
        case read(ListenSession.ReadID, ReadOperation)
        case catchUp(ListenSession.ReadID, ChangeCursor, ChangeScope)
    }

    private static let ids: [Int32] = [2, 4, 6, 8]

    private var random: SeededRandom
    private let store = InMemoryStorageAdapter()
    private var session: ListenSession
    private(set) var client = ListenClientModel()
    private var history = ListenHistory()
    /// The work of the driver that has not begun, and the events that are on their way.
    private var pending: [Pending] = []
    /// The events of each read that has been done.
    private var events: [[ListenSession.Event]] = []
    private var pages: [ListenSession.Event] = []
    private var requests: [ListenRequest] = []
    private var feed: ChangeCursor?
    private var isCaughtUp = true
    private var hasLostSnapshot = false
    /// The events so far, for the message of a failure.
    private(set) var trace: [String] = []
    private(set) var resumptions = 0
    private(set) var resets = 0

    /// Whether the client sometimes loses track of its documents.
    private let drifts: Bool

    init(seed: UInt64, drifts: Bool = false) {
        self.drifts = drifts
        random = SeededRandom(seed: seed)
        session = Self.session(&random)
    }

    /// Returns a session without room for all changes at first; doubled often enough, it has room for all documents.
    ///
    /// It may remember only a few of them. Its client is one of WebChannel, or of gRPC.
    private static func session(_ random: inout SeededRandom) -> ListenSession {
        ListenSession(
            mostKeptChanges: Int.random(in: 3...12, using: &random),
            mostNames: Bool.random(using: &random) ? 100 : Int.random(in: 0...8, using: &random),
            joinsCurrent: Bool.random(using: &random)
        )
    }

    // MARK: Running

    mutating func run(steps: Int) async throws {
        try await commit()
        for _ in 0..<steps { try await step() }
        // The client must arrive at the last state.
        while try await settle() {}
        if drifts {
            // Only a resumption finds what the client has lost.
            reconnect()
            while try await settle() {}
        }
        for id in client.targets.keys {
            guard let shown = client.shown(id) else {
                throw ListenClientModel.Violation("target \(id) never becomes current")
            }
            try history.check(shown, of: client.targets[id]?.content, at: nil)
        }
    }

    private mutating func step() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<28: try await commit()
        case ..<38: addTarget()
        case ..<42: removeTarget()
        case ..<46: reconnect()
        case ..<47: try await handle(.restarted, isFeed: true)
        case ..<48: try await handle(.beat)
        case ..<50: drift()
        case ..<65: try await turnPage()
        case ..<75: try await work()
        default: try await deliver()
        }
    }

    private mutating func settle() async throws -> Bool {
        if !requests.isEmpty || !events.isEmpty || !pages.isEmpty {
            try await deliver()
            return true
        }
        if !pending.isEmpty {
            try await work()
            return true
        }
        return try await turnPage()
    }

    // MARK: The store

    private mutating func commit() async throws {
        let writes = ListenHistory.writes(&random)
        try await history.commit(writes, to: store)
        trace.append("commit \(writes.map(\.path.string))")
    }

    // MARK: The client

    private mutating func addTarget() {
        let free = Self.ids.filter { client.targets[$0] == nil }
        guard let id = free.randomElement(using: &random) else { return }
        requests.append(client.add(id, ListenHistory.content(&random)))
    }

    private mutating func removeTarget() {
        let all = client.targets.keys.filter { !client.removed.contains($0) }.sorted()
        guard let id = all.randomElement(using: &random) else { return }
        requests.append(client.remove(id))
    }

    private mutating func drift() {
        guard drifts else { return }
        let all = client.targets.filter { id, target in
            if case .documents = target.content { return false }
            return target.token != nil && !client.drifted.contains(id)
        }
        guard let id = all.keys.sorted().randomElement(using: &random),
            let path = client.documents.keys.sorted().randomElement(using: &random)
        else { return }
        client.drift(id, path)
        trace.append("the client loses track of \(path) in \(id)")
    }

    private mutating func reconnect() {
        session = Self.session(&random)
        (pending, events, pages, feed) = ([], [], [], nil)
        requests = client.reconnect()
        resumptions += requests.count
    }

    // MARK: The driver

    /// Does one of the reads that the session asked for.
    private mutating func work() async throws {
        guard !pending.isEmpty else { return }
        switch pending.remove(at: Int.random(in: 0..<pending.count, using: &random)) {
        case .read(let id, let operation):
            var request = ReadRequest(operation)
            (request.needsPosition, request.needsTime) = (true, true)
            let result = try await store.read(request)
            guard let position = result.position, let time = result.time else { return }
            let point = ListenSession.Point(position: position, time: time)
            switch result.payload {
            case .found(let documents):
                events.append(
                    ListenSession.Event.loading(
                        id,
                        documents,
                        of: operation,
                        at: point,
                        &random,
                        &hasLostSnapshot
                    )
                )
            case .documents(let documents):
                events.append([.loaded(id, documents.compactMap { $0 }, at: point)])
            case .values(let values):
                events.append([.counted(id, Int(values[0].integerValue ?? 0), at: point)])
            case .names: break
            }
        case .catchUp(let id, var cursor, let scope):
            guard Int.random(in: 0..<8, using: &random) > 0 else {
                events.append([.cannotResume(id)])
                return
            }
            var changes: [ChangePage.Change] = []
            while true {
                let page = try await store.changes(ChangeRequest(after: cursor, scope: scope))
                changes += page.changes
                cursor = page.next
                guard page.isCaughtUp, let time = page.time else { continue }
                let point = ListenSession.Point(position: cursor, time: time)
                return events.append([.caughtUp(id, changes, at: point)])
            }
        }
    }

    /// Reads a page of the log, unless the stream is at its end.
    @discardableResult
    private mutating func turnPage() async throws -> Bool {
        guard let feed else { return false }
        let limit = Int.random(in: 1...4, using: &random)
        var page = try await store.changes(ChangeRequest(after: feed, limit: limit))
        // As in a store that does not look whether a full page is the last one.
        if page.changes.count == limit { page.isCaughtUp = false }
        guard page.next != feed || page.isCaughtUp != isCaughtUp else { return false }
        (self.feed, isCaughtUp) = (page.next, page.isCaughtUp)
        pages.append(.page(page))
        return true
    }

    private mutating func deliver() async throws {
        let choices = [!requests.isEmpty, !events.isEmpty, !pages.isEmpty]
        let open = choices.indices.filter { choices[$0] }
        switch open.randomElement(using: &random) {
        case 0: try await handle(.request(requests.removeFirst()))
        case 1:
            let place = Int.random(in: 0..<events.count, using: &random)
            let event = events[place].removeFirst()
            if events[place].isEmpty { events.remove(at: place) }
            try await handle(event)
        case 2: try await handle(pages.removeFirst())
        default: break
        }
    }

    private mutating func handle(_ event: ListenSession.Event, isFeed: Bool = false) async throws {
        if isFeed { (pages, feed) = ([], nil) }
        trace.append("> \(ListenWords.words(event))")
        for effect in session.handle(event) {
            if case .send(let response) = effect {
                trace.append("  < \(ListenWords.words(response))")
            }
            switch effect {
            case .read(let id, let operation): pending.append(.read(id, operation))
            case .catchUp(let id, let cursor, let scope):
                pending.append(.catchUp(id, cursor, scope))
            case .follow(let cursor): (feed, pages, isCaughtUp) = (cursor, [], true)
            case .end(let failure):
                throw ListenClientModel.Violation("the stream ended: \(failure.message)")
            case .send(let response):
                if case .target(let change) = response, change.kind == .reset { resets += 1 }
                let time = try client.receive(response)
                requests += client.takeRequests()
                guard let time else { continue }
                for id in client.targets.keys
                where !client.removed.contains(id) && !client.drifted.contains(id) {
                    guard let shown = client.shown(id) else { continue }
                    try history.check(shown, of: client.targets[id]?.content, at: time)
                }
            }
        }
    }
}
