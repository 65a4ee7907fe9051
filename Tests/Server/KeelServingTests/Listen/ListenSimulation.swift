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
    private static let colors = ["red", "blue", "green"]

    private var random: SeededRandom
    private let store = InMemoryStorageAdapter()
    private var session: ListenSession
    private(set) var client = ListenClientModel()
    /// The store's documents after each commit.
    private var states: [Timestamp: [Document]] = [:]
    /// The work of the driver that has not begun, and the events that are on their way.
    private var pending: [Pending] = []
    private var events: [ListenSession.Event] = []
    private var pages: [ListenSession.Event] = []
    private var requests: [ListenRequest] = []
    private var feed: ChangeCursor?
    private var isCaughtUp = true
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
    private static func session(_ random: inout SeededRandom) -> ListenSession {
        ListenSession(mostKeptChanges: Int.random(in: 3...12, using: &random))
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
            try compare(shown, id, at: nil)
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
        var writes: [DocumentWrite] = []
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let path = path()
            guard !writes.contains(where: { $0.path == path }) else { continue }
            if Int.random(in: 0..<4, using: &random) == 0 {
                writes.append(DocumentWrite(path, .delete))
            } else {
                let fields: DocumentFields = [
                    "color": .string(Self.colors[Int.random(in: 0..<3, using: &random)]),
                    "size": .integer(Int64.random(in: 0..<9, using: &random)),
                ]
                writes.append(DocumentWrite(path, .set(DocumentBody(fields))))
            }
        }
        for result in try await store.commit([WriteBatch(writes)]) { _ = try result.get() }
        trace.append("commit \(writes.map(\.path.string))")
        var request = ReadRequest(.query(.everything()))
        request.needsTime = true
        let result = try await store.read(request)
        if case .found(let documents) = result.payload, let time = result.time {
            states[time] = documents
        }
    }

    private mutating func path() -> DocumentPath {
        let collection = ["notes", "notes", "users/a/notes", "tags"].randomElement(using: &random)
        return DocumentPath("\(collection ?? "notes")/\(Int.random(in: 0..<6, using: &random))")
    }

    // MARK: The client

    private mutating func addTarget() {
        let free = Self.ids.filter { client.targets[$0] == nil }
        guard let id = free.randomElement(using: &random) else { return }
        requests.append(client.add(id, content()))
    }

    private mutating func content() -> ListenTarget.Content {
        let notes = DocumentQuery("notes")
        let color = Self.colors[Int.random(in: 0..<3, using: &random)]
        let red = notes.where(.equal("color", .string(color)))
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .documents([path(), path()])
        case 1: return .query(notes)
        case 2: return .query(red)
        case 3: return .query(DocumentQuery(group: "notes"))
        case 4: return .query(notes.with { $0.limit = .first(2) })
        case 5: return .query(notes.order(by: "size").with { $0.limit = .last(3) })
        default: return .query(red.order(by: "size").with { $0.limit = .first(1) })
        }
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
            case .found(let documents): events.append(.loaded(id, documents, at: point))
            case .documents(let documents):
                events.append(.loaded(id, documents.compactMap { $0 }, at: point))
            case .values(let values):
                events.append(.counted(id, Int(values[0].integerValue ?? 0), at: point))
            case .names: break
            }
        case .catchUp(let id, var cursor, let scope):
            guard Int.random(in: 0..<8, using: &random) > 0 else {
                events.append(.cannotResume(id))
                return
            }
            var changes: [ChangePage.Change] = []
            while true {
                let page = try await store.changes(ChangeRequest(after: cursor, scope: scope))
                changes += page.changes
                cursor = page.next
                guard page.isCaughtUp, let time = page.time else { continue }
                let point = ListenSession.Point(position: cursor, time: time)
                return events.append(.caughtUp(id, changes, at: point))
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
            try await handle(events.remove(at: place))
        case 2: try await handle(pages.removeFirst())
        default: break
        }
    }

    private mutating func handle(_ event: ListenSession.Event, isFeed: Bool = false) async throws {
        if isFeed { (pages, feed) = ([], nil) }
        trace.append("> \(Self.words(event))")
        for effect in session.handle(event) {
            if case .send(let response) = effect { trace.append("  < \(Self.words(response))") }
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
                    if let shown = client.shown(id) { try compare(shown, id, at: time) }
                }
            }
        }
    }

    /// Compares what a client shows with the target's result in the store at a time, or at the end.
    private func compare(
        _ shown: [DocumentPath: Document],
        _ id: Int32,
        at time: Timestamp?
    ) throws {
        guard let content = client.targets[id]?.content,
            let state = states[time ?? states.keys.max() ?? Timestamp(microseconds: 0)]
        else { throw ListenClientModel.Violation("the time of the point is not that of a state") }
        let expected: [Document] =
            switch content {
            case .documents(let paths): state.filter { paths.contains($0.path) }
            case .query(let query): try StorageEvaluator.result(of: query, among: state)
            }
        let wanted = Dictionary(uniqueKeysWithValues: expected.map { ($0.path, $0) })
        guard shown != wanted else { return }
        throw ListenClientModel.Violation(
            """
            target \(id), \(content), shows \(shown.values.map(Self.words).sorted()) and not \
            \(wanted.values.map(Self.words).sorted())
            """
        )
    }

    // MARK: Words

    private static func words(_ document: Document) -> String {
        let (color, size) = (document["color"]?.stringValue, document["size"]?.integerValue)
        return "\(document.path) \(color ?? "") \(size ?? 0)"
    }

    private static func words(_ event: ListenSession.Event) -> String {
        switch event {
        case .request(.add(let target)):
            "add \(target.id) \(target.content)\(target.resumption == nil ? "" : " with a token")"
        case .request(.reject(let id, _)): "reject \(id)"
        case .request(.remove(let id)): "remove \(id)"
        case .loaded(let id, let documents, _, _): "loaded \(id) \(documents.map(words))"
        case .counted(let id, let count, _): "counted \(id) \(count)"
        case .caughtUp(let id, let changes, _): "caught up \(id) \(changes.map(\.path.string))"
        case .cannotResume(let id): "cannot resume \(id)"
        case .failed(let id, let error): "failed \(id) \(error)"
        case .denied(let id, _): "denied \(id)"
        case .page(let page):
            "page \(page.changes.map(\.path.string))\(page.isCaughtUp ? ", caught up" : "")"
        case .restarted: "restarted"
        case .beat: "beat"
        }
    }

    private static func words(_ response: ListenResponse) -> String {
        switch response {
        case .target(let change):
            "\(change.kind) \(change.targets)\(change.token == nil ? "" : " with a token")"
        case .document(let change):
            "document \(words(change.document)) in \(change.targets), not in \(change.removed)"
        case .departure(let change):
            "\(change.isDeleted ? "deleted" : "removed") \(change.path) of \(change.targets)"
        case .filter(let filter):
            "filter of \(filter.target): \(filter.count) \(filter.paths?.map(\.string) ?? [])"
        }
    }
}
