import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

#if SQLite
import KeelStorageSQLite
#endif

@Suite("Served streams of changes", .timeLimit(.minutes(2)))
struct ListenStreamTests {
    /// A client model behind a stream, whose state each consistent point is compared with.
    private final class Client: Sendable {
        private let hub: ListenHub
        private let model = Mutex(ListenClientModel())
        private let requests = AsyncStream.makeStream(of: ListenRequest.self)
        private let shown = Mutex<[Int32: Set<DocumentPath>]>([:])
        private let problem = Mutex<String?>(nil)

        private var adapter: any StorageAdapter { hub.adapter }

        init(_ hub: ListenHub) { self.hub = hub }

        var failure: String? { problem.withLock { $0 } }

        func shows(_ id: Int32) -> Set<DocumentPath>? { shown.withLock { $0[id] } }

        func add(_ id: Int32, _ content: ListenTarget.Content) {
            requests.continuation.yield(model.withLock { $0.add(id, content) })
        }

        func remove(_ id: Int32) { requests.continuation.yield(model.withLock { $0.remove(id) }) }

        func run() async -> StreamFailure? {
            let stream = ListenStream(hub: hub) { response in
                do {
                    guard let time = try self.model.withLock({ try $0.receive(response) }) else {
                        return
                    }
                    try await self.check(at: time)
                } catch let error as StorageError where error.code == .cancelled {
                    // The client has ended the stream.
                } catch {
                    self.problem.withLock { $0 = $0 ?? String(describing: error) }
                }
            }
            return await stream.run(requests.stream)
        }

        func end() { requests.continuation.finish() }

        /// Compares what the client shows with the store at the time of a consistent point.
        private func check(at time: Timestamp) async throws {
            let contents = model.withLock { model in
                model.targets.compactMap { id, target in
                    model.shown(id).map { (id, target.content, $0) }
                }
            }
            for (id, content, documents) in contents {
                guard case .query(let query) = content else { continue }
                shown.withLock { $0[id] = Set(documents.keys) }
                guard adapter.capabilities.contains(.pointInTimeReads) else { continue }
                var request = ReadRequest(.query(query))
                request.asOf = time
                guard case .found(let found) = try await adapter.read(request).payload else {
                    continue
                }
                let wanted = Dictionary(uniqueKeysWithValues: found.map { ($0.path, $0) })
                guard wanted != documents else { continue }
                throw ListenClientModel.Violation(
                    "target \(id) shows \(documents.keys.sorted()) and not \(wanted.keys.sorted())"
                )
            }
        }
    }

    private final class Kinds: Sendable {
        private let kinds = Mutex<[ListenResponse.TargetChange.Kind]>([])

        var all: [ListenResponse.TargetChange.Kind] { kinds.withLock { $0 } }

        func add(_ kind: ListenResponse.TargetChange.Kind) { kinds.withLock { $0.append(kind) } }
    }

    private func withStores(_ body: (any StorageAdapter) async throws -> Void) async throws {
        try await body(InMemoryStorageAdapter())
        try await body(HesitantStore(upstream: InMemoryStorageAdapter()))
        #if SQLite
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = .seconds(3600)
        let file = folder.appending(path: "store.sqlite")
        try await body(SQLiteStorageAdapter(at: .file(file), configuration: configuration))
        #endif
    }

    /// A store that knows only from a page without changes that it has no more of them.
    private struct HesitantStore: ForwardingStorageAdapter {
        let upstream: any StorageAdapter
        var hasChangeLog = true

        var capabilities: StorageCapabilities {
            upstream.capabilities.subtracting(hasChangeLog ? [] : .changeLog)
        }

        func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
            var page = try await upstream.changes(request)
            if !page.changes.isEmpty { (page.isCaughtUp, page.time) = (false, nil) }
            return page
        }
    }

    private static func write(_ number: Int, color: String) -> DocumentWrite {
        let fields: DocumentFields = ["color": .string(color), "size": .integer(Int64(number % 7))]
        return DocumentWrite("notes/\(number)", .set(DocumentBody(fields)))
    }

    private static let contents: [ListenTarget.Content] = [
        .query(DocumentQuery("notes").where(.equal("color", "red"))),
        .query(DocumentQuery("notes").order(by: "size").with { $0.limit = .first(3) }),
        .query(DocumentQuery(group: "notes")),
    ]

    private func commits(_ count: Int, to adapter: any StorageAdapter) async throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<count {
            let number = Int.random(in: 0..<20, using: &random)
            let write =
                Int.random(in: 0..<4, using: &random) == 0
                ? DocumentWrite("notes/\(number)", .delete)
                : Self.write(number, color: ["red", "blue"].randomElement(using: &random) ?? "red")
            for result in try await adapter.commit([WriteBatch([write])]) { _ = try result.get() }
        }
    }

    @Test("Clients show the store's states while it changes and targets come and go")
    func follows() async throws {
        try await withStores { adapter in
            let client = Client(ListenHub(adapter: adapter))
            async let ended = client.run()
            for (place, content) in Self.contents.enumerated() {
                client.add(Int32(place * 2 + 2), content)
                try await commits(40, to: adapter)
            }
            client.remove(4)
            try await commits(40, to: adapter)
            let last = Self.write(99, color: "red")
            for result in try await adapter.commit([WriteBatch([last])]) { _ = try result.get() }
            try await waitUntil {
                client.failure != nil
                    || [2, 6].allSatisfy { client.shows($0)?.contains("notes/99") == true }
            }
            client.end()
            #expect(await ended == nil)
            #expect(client.failure == nil)
        }
    }

    @Test("Each of many clients is notified of the documents that enter its result and leave it")
    func index() async throws {
        try await withStores { adapter in
            let hub = ListenHub(adapter: adapter)
            let colors = ["red", "blue", "green", "white", "black"]
            let clients = (0..<30).map { number in
                (color: colors[number % colors.count], client: Client(hub))
            }
            await withTaskGroup(of: StreamFailure?.self) { group in
                for (color, client) in clients {
                    group.addTask { await client.run() }
                    let query = DocumentQuery("notes").where(
                        .and([.equal("color", .string(color)), .greaterOrEqual("size", 2)])
                    )
                    client.add(2, .query(query))
                }
                do {
                    var random = SeededRandom(seed: 11)
                    for _ in 0..<300 {
                        let path = DocumentPath("notes/\(Int.random(in: 0..<25, using: &random))")
                        let color = colors.randomElement(using: &random) ?? "red"
                        let fields: DocumentFields = [
                            "color": .string(color),
                            "size": .integer(Int64.random(in: 0..<5, using: &random)),
                        ]
                        let isGone = Int.random(in: 0..<6, using: &random) == 0
                        let write = DocumentWrite(
                            path,
                            isGone ? .delete : .set(DocumentBody(fields))
                        )
                        for result in try await adapter.commit([WriteBatch([write])]) {
                            _ = try result.get()
                        }
                    }
                    for color in colors {
                        let fields: DocumentFields = ["color": .string(color), "size": 9]
                        let path = DocumentPath("notes/last \(color)")
                        let write = DocumentWrite(path, .set(DocumentBody(fields)))
                        _ = try await adapter.commit([WriteBatch([write])])
                    }
                    try await waitUntil {
                        clients.allSatisfy { color, client in
                            client.failure != nil
                                || client.shows(2)?.contains(DocumentPath("notes/last \(color)"))
                                    == true
                        }
                    }
                    for (color, client) in clients {
                        let query = DocumentQuery("notes").where(
                            .and([.equal("color", .string(color)), .greaterOrEqual("size", 2)])
                        )
                        let result = try await adapter.read(ReadRequest(.query(query)))
                        let documents = try result.found
                        #expect(client.shows(2) == Set(documents.map(\.path)))
                        #expect(client.failure == nil)
                    }
                } catch {
                    Issue.record(error)
                }
                for (_, client) in clients { client.end() }
                for await failure in group { #expect(failure == nil) }
            }
        }
    }

    @Test("A hub notes no documents of a target whose stream has forgotten them")
    func forgotten() async throws {
        let adapter = InMemoryStorageAdapter()
        let hub = ListenHub(adapter: adapter)
        var configuration = ListenStream.Configuration()
        configuration.mostNames = 2
        let received = Mutex<Set<DocumentPath>>([])
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            guard case .document(let change) = response else { return }
            received.withLock { _ = $0.insert(change.document.path) }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.contents[0])))
        async let ended = stream.run(requests.stream)
        for number in 1...4 {
            let write = Self.write(number, color: "red")
            for result in try await adapter.commit([WriteBatch([write])]) { _ = try result.get() }
            try await waitUntil { received.withLock { $0.contains(write.path) } }
            if number == 1 { try await waitUntil { hub.indexedDocumentCount == 1 } }
        }
        // The stream told the hub before it took the last document.
        #expect(hub.indexedDocumentCount == 0)
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    @Test("Clients show the store’s states also if nothing may wait for them")
    func noRoom() async throws {
        let adapter = InMemoryStorageAdapter()
        let client = Client(ListenHub(adapter: adapter, mostWaitingBytes: 0))
        async let ended = client.run()
        client.add(2, Self.contents[0])
        try await commits(40, to: adapter)
        let last = Self.write(99, color: "red")
        for result in try await adapter.commit([WriteBatch([last])]) { _ = try result.get() }
        try await waitUntil {
            client.failure != nil || client.shows(2)?.contains("notes/99") == true
        }
        client.end()
        #expect(await ended == nil)
        #expect(client.failure == nil)
    }

    @Test(
        "Each server that reads a store is a reader of its own, for which the store keeps changes"
    )
    func readers() async throws {
        let store = InMemoryStorageAdapter().recorded()
        for count in 1...2 {
            let client = Client(ListenHub(adapter: store))
            async let ended = client.run()
            client.add(2, Self.contents[0])
            try await waitUntil {
                let names = store.calls.compactMap { call in
                    if case .changes(let request) = call { request.reader?.name } else { nil }
                }
                return Set(names).count == count
            }
            client.end()
            #expect(await ended == nil)
        }
    }

    @Test("A stream needs a store with a change log")
    func refuses() async throws {
        let store = HesitantStore(upstream: InMemoryStorageAdapter(), hasChangeLog: false)
        let stream = ListenStream(hub: ListenHub(adapter: store)) { _ in }
        let requests = AsyncStream.makeStream(of: ListenRequest.self).stream
        #expect(await stream.run(requests)?.status == .unimplemented)
    }

    /// The targets to which a client may listen.
    private final class Permissions: Sendable {
        private let denied = Mutex<Set<ListenTarget.Content>>([])

        func deny(_ content: ListenTarget.Content) { denied.withLock { _ = $0.insert(content) } }

        func permission(_ content: ListenTarget.Content) -> ListenPermission {
            denied.withLock { $0.contains(content) }
                ? .denied(StreamFailure(.permissionDenied, "not any more"))
                : .granted(for: .seconds(3_600))
        }
    }

    @Test("A client is asked for its permission at the start, before a change, and when it ends")
    func permissions() async throws {
        let store = InMemoryStorageAdapter()
        let clock = TestClock()
        let permissions = Permissions()
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        var configuration = ListenStream.Configuration()
        (configuration.clock, configuration.heartbeat) = (clock, .seconds(100_000))
        configuration.permission = { content, _ in permissions.permission(content) }
        let hub = ListenHub(adapter: store)
        let removed = Mutex<[Int32]>([])
        let told = Mutex<[Int32]>([])
        let current = Mutex<Set<Int32>>([])
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            switch response {
            case .target(let change) where change.kind == .remove:
                #expect(change.cause?.status == .permissionDenied)
                removed.withLock { $0 += change.targets }
            case .target(let change) where change.kind == .current:
                current.withLock { $0.formUnion(change.targets) }
            case .document(let change): told.withLock { $0 += change.targets }
            default: break
            }
        }
        permissions.deny(Self.contents[2])
        for (place, content) in Self.contents.enumerated() {
            requests.continuation.yield(.add(ListenTarget(id: Int32(place + 1), content: content)))
        }
        async let ended = stream.run(requests.stream)
        try await waitUntil { current.withLock(\.count) == 2 && removed.withLock { $0 } == [3] }
        permissions.deny(Self.contents[0])
        let write = Self.write(1, color: "red")
        for result in try await store.commit([WriteBatch([write])]) { _ = try result.get() }
        try await waitUntil { removed.withLock(\.count) == 2 && told.withLock { !$0.isEmpty } }
        #expect(told.withLock { $0 } == [2], "the change is not told to the first target")
        permissions.deny(Self.contents[1])
        await clock.advance(by: .seconds(3_600))
        try await waitUntil { removed.withLock(\.count) == 3 }
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    @Test("A token of other data is not used, whether older or newer", arguments: [false, true])
    func foreignToken(isOlder: Bool) async throws {
        let (first, second) = (InMemoryStorageAdapter(), InMemoryStorageAdapter())
        try await commits(20, to: first)
        try await commits(5, to: second)
        let (store, other) = isOlder ? (second, first) : (first, second)
        let position = try await other.changes(ChangeRequest()).next
        var target = ListenTarget(id: 2, content: Self.contents[0])
        (target.resumption, target.isResumed) = (ResumeToken(position), true)
        let kinds = Kinds()
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: ListenHub(adapter: store)) { response in
            guard case .target(let change) = response else { return }
            kinds.add(change.kind)
            if change.kind == .noChange { requests.continuation.finish() }
        }
        requests.continuation.yield(.add(target))
        #expect(await stream.run(requests.stream) == nil)
        #expect(kinds.all == [.add, .reset, .current, .noChange])
    }

    @Test("A document that exists and cannot be read is not told as deleted")
    func unreadable() async throws {
        let store = InMemoryStorageAdapter()
        _ = try await store.commit([WriteBatch([Self.write(1, color: "red")])])
        let damaged = DamagedStore(upstream: store, damaged: ["notes/1"], fillsUp: true)
        let departures = Mutex<[DocumentPath: Bool]>([:])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: ListenHub(adapter: damaged)) { response in
            switch response {
            case .departure(let departure):
                departures.withLock { $0[departure.path] = departure.isDeleted }
            case .target(let change) where change.kind == .noChange: requests.continuation.finish()
            default: break
            }
        }
        let content = ListenTarget.Content.documents(["notes/1", "notes/2"])
        requests.continuation.yield(.add(ListenTarget(id: 2, content: content)))
        #expect(await stream.run(requests.stream) == nil)
        #expect(departures.withLock { $0 } == ["notes/1": false, "notes/2": true])
    }

    @Test("Documents that cannot be read hide no others from a target with a limit")
    func unreadableInLimit() async throws {
        let store = InMemoryStorageAdapter()
        let documents = (10..<60).map { Self.write($0, color: "red") }
        _ = try await store.commit([WriteBatch(documents)])
        let damaged = Set((10..<30).map { DocumentPath("notes/\($0)") })
        let client = Client(
            ListenHub(adapter: DamagedStore(upstream: store, damaged: damaged, fillsUp: false))
        )
        async let ended = client.run()
        client.add(2, .query(DocumentQuery("notes").limit(to: 2)))
        try await waitUntil { client.shows(2) == ["notes/30", "notes/31"] }
        // The documents behind those that were read take their places.
        let removals = (30..<55).map { DocumentWrite(DocumentPath("notes/\($0)"), .delete) }
        _ = try await store.commit([WriteBatch(removals)])
        try await waitUntil { client.shows(2) == ["notes/55", "notes/56"] }
        client.end()
        #expect(await ended == nil)
        #expect(client.failure == nil)
    }

    @Test("A query that takes too long twice ends, and neither its stream nor reads of documents")
    func slowRead() async throws {
        let clock = TestClock()
        let store = SlowQueries(upstream: InMemoryStorageAdapter(), clock: clock)
        var configuration = ListenStream.Configuration()
        (configuration.clock, configuration.readTimeout) = (clock, .seconds(7))
        configuration.heartbeat = .seconds(1_000_000)
        let causes = Mutex<[Int32: FirestoreStatus]>([:])
        let current = Mutex<Set<Int32>>([])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(
            hub: ListenHub(adapter: store),
            configuration: configuration
        ) { response in
            guard case .target(let change) = response else { return }
            if change.kind == .current { current.withLock { $0.formUnion(change.targets) } }
            guard change.kind == .remove, let cause = change.cause else { return }
            causes.withLock { causes in
                for id in change.targets { causes[id] = cause.status }
            }
        }
        async let ended = stream.run(requests.stream)
        let queries = [Int32](1...20)
        for id in queries {
            let content = ListenTarget.Content.query(DocumentQuery("notes"))
            requests.continuation.yield(.add(ListenTarget(id: id, content: content)))
        }
        // Queries that hang hold all places.
        requests.continuation.yield(.add(ListenTarget(id: 30, content: .documents(["notes/1"]))))
        try await waitUntil { current.withLock { $0.contains(30) } }
        #expect(causes.withLock { $0.isEmpty })
        try await waitUntil {
            await clock.advance(by: .seconds(7))
            return causes.withLock(\.count) == queries.count
        }
        #expect(causes.withLock { Set($0.values) } == [.resourceExhausted])
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    /// A store whose queries hang until they are canceled.
    private struct SlowQueries: ForwardingStorageAdapter {
        let upstream: any StorageAdapter
        let clock: TestClock

        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            guard case .query = request.operation else { return try await upstream.read(request) }
            try? await clock.sleep(for: .seconds(1_000_000_000))
            throw .cancellation
        }
    }
}
