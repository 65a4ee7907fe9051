import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

@Suite("First documents of large targets", .timeLimit(.minutes(10)))
struct ListenLoadTests {
    private static let notes = ListenTarget.Content.query(DocumentQuery("notes"))

    /// A store that can neither hold a state nor read the past.
    private struct PresentStore: ForwardingStorageAdapter {
        let upstream: any StorageAdapter

        var capabilities: StorageCapabilities {
            upstream.capabilities.subtracting([.heldReads, .pointInTimeReads])
        }
    }

    /// A client that checks the messages it receives against the rules of the SDKs.
    private final class Client: Sendable {
        private let model = Mutex(ListenClientModel())
        private let problem = Mutex<String?>(nil)

        var failure: String? { problem.withLock { $0 } }

        func add(_ content: ListenTarget.Content) -> ListenRequest {
            model.withLock { $0.add(2, content) }
        }

        /// The documents that the client shows; nil while it shows nothing.
        var shown: [DocumentPath: Document]? { model.withLock { $0.shown(2) } }

        func receive(_ response: ListenResponse) {
            do {
                _ = try model.withLock { try $0.receive(response) }
            } catch {
                problem.withLock { $0 = $0 ?? String(describing: error) }
            }
        }
    }

    private static func write(_ number: Int, size: Int = 0) -> DocumentWrite {
        let fields: DocumentFields = [
            "size": .integer(Int64(size)), "text": .string(String(repeating: "x", count: size)),
        ]
        return DocumentWrite("notes/\(number)", .set(DocumentBody(fields)))
    }

    private static func commit(
        _ writes: [DocumentWrite],
        to store: any StorageAdapter
    ) async throws(StorageError) {
        for result in try await store.commit([WriteBatch(writes)]) { _ = try result.get() }
    }

    private static func fill(_ store: any StorageAdapter, _ numbers: Range<Int>) async throws {
        try await commit(numbers.map { write($0) }, to: store)
    }

    private static func documents(
        of store: any StorageAdapter
    ) async throws -> [DocumentPath: Document] {
        let result = try await store.read(ReadRequest(.query(DocumentQuery("notes"))))
        guard case .found(let documents) = result.payload else { return [:] }
        return Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
    }

    /// Returns whether a read is one of a page of documents.
    private static func isPage(_ request: ReadRequest) -> Bool {
        if case .query = request.operation { true } else { false }
    }

    @Test(
        "They arrive in pages of one state, whatever is written meanwhile",
        arguments: [nil, .seconds(3_600)] as [Duration?]
    )
    func pages(history: Duration?) async throws {
        let memory = InMemoryStorageAdapter(history: history)
        try await Self.fill(memory, 0..<100)
        let store = WatchedStore(memory) { number async throws(StorageError) in
            guard number < 10 else { return }
            let gone = DocumentWrite("notes/\(99 - number)", .delete)
            let writes = [Self.write(number, size: 1), Self.write(1_000 + number), gone]
            try await Self.commit(writes, to: memory)
        }
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        configuration.mostBytesAtOnce = 5_000
        let client = Client()
        let stream = ListenStream(hub: ListenHub(adapter: store), configuration: configuration) {
            client.receive($0)
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(client.add(Self.notes))
        async let ended = stream.run(requests.stream)
        try await waitUntil { client.failure != nil || client.shown != nil }
        // Later changes find the target as usual.
        try await Self.commit([Self.write(5_000)], to: memory)
        try await waitUntil { client.failure != nil || client.shown?["notes/5000"] != nil }
        requests.continuation.finish()
        #expect(await ended == nil)
        #expect(client.failure == nil)
        let documents = try await Self.documents(of: memory)
        #expect(client.shown == documents)
        let pages = store.reads.filter(Self.isPage)
        #expect(pages.count >= 8)
        #expect(pages.allSatisfy { ($0.maximumBytes ?? .max) <= 5_000 })
        #expect(Set(pages.dropFirst(2).map(\.asOf)).count == 1, "one state")
        #expect(store.mostFoundBytes <= 5_000)
    }

    @Test("A page is read once the client has taken the one before it")
    func backPressure() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.fill(memory, 0..<100)
        let store = WatchedStore(memory)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        let (client, gate, hub) = (Client(), Gate(), ListenHub(adapter: store))
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            if case .document = response { try await gate.pass() }
            client.receive(response)
            if client.shown != nil { requests.continuation.finish() }
        }
        requests.continuation.yield(client.add(Self.notes))
        async let ended = stream.run(requests.stream)
        try await waitUntil { gate.begunCount == 1 }
        #expect(store.reads.count(where: Self.isPage) == 1)
        #expect(hub.waitingBytes > 0)
        gate.open()
        #expect(await ended == nil)
        #expect(client.shown?.count == 100)
        #expect(store.reads.count(where: Self.isPage) >= 8)
        #expect(hub.waitingBytes == 0)
    }

    @Test("A client that goes away while documents arrive releases the state that the store holds")
    func release() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.fill(memory, 0..<100)
        let store = WatchedStore(memory)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        // A renewal would be another hold.
        configuration.clock = TestClock()
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(
            hub: ListenHub(adapter: store),
            configuration: configuration
        ) { response in
            if case .document = response { requests.continuation.finish() }
        }
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.notes)))
        #expect(await stream.run(requests.stream) == nil)
        try await waitUntil {
            let holds = store.reads.compactMap(\.holdDuration)
            return holds.count(where: { $0 > .zero }) == holds.count(where: { $0 == .zero })
        }
    }

    @Test("The store goes on holding the state while a page waits, and no renewal is cut off")
    func renewal() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.fill(memory, 0..<100)
        let (clock, busy, renewal) = (TestClock(), Gate(), Gate())
        let store = WatchedStore(memory) { number async throws(StorageError) in
            // Behind the first page and the hold: the second page, and the renewal.
            do {
                if number == 3 { try await busy.pass() }
                if number == 4 { try await renewal.pass() }
            } catch { throw .cancellation }
        }
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        configuration.clock = clock
        let client = Client()
        let stream = ListenStream(hub: ListenHub(adapter: store), configuration: configuration) {
            client.receive($0)
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(client.add(Self.notes))
        async let ended = stream.run(requests.stream)
        try await waitUntil { busy.begunCount == 1 }
        // The heartbeat, the limit of the read, and the renewal.
        try await waitUntil { clock.sleeperCount >= 3 }
        await clock.advance(by: .seconds(10))
        try await waitUntil { renewal.begunCount == 1 }
        busy.open()
        renewal.open()
        try await waitUntil { client.failure != nil || client.shown != nil }
        requests.continuation.finish()
        #expect(await ended == nil)
        #expect(client.failure == nil)
        #expect(client.shown?.count == 100)
        #expect(renewal.cancelledCount == 0)
    }

    private typealias Stream = Task<StreamFailure?, Never>

    private static func holds(of store: WatchedStore) -> Int {
        store.reads.count(where: { $0.asOf == nil && ($0.holdDuration ?? .zero) > .zero })
    }

    private static func readsAtOnce(of store: WatchedStore) -> Int {
        store.reads.count(where: { isPage($0) && $0.maximumBytes == 64 << 20 })
    }

    @Test("Streams leave half of the states that a store can hold to other calls")
    func heldStates() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.fill(memory, 0..<100)
        let (begin, gate) = (Gate(), Gate())
        let store = WatchedStore(memory) { number async throws(StorageError) in
            // The first eight targets are read at the same time.
            guard number <= 8 else { return }
            do { try await begin.pass() } catch { throw .cancellation }
        }
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        let current = Mutex<Set<Int32>>([])
        let hub = ListenHub(adapter: store)
        var streams: [(requests: AsyncStream<ListenRequest>.Continuation, end: Stream)] = []
        for number in Int32(0)..<4 {
            let stream = ListenStream(hub: hub, configuration: configuration) { response in
                if case .document = response { try await gate.pass() }
                guard case .target(let change) = response, change.kind == .current else { return }
                current.withLock { $0.formUnion(change.targets) }
            }
            let (events, requests) = AsyncStream.makeStream(of: ListenRequest.self)
            // One stream takes two states at a time.
            for id in [2 * number + 1, 2 * number + 2] {
                requests.yield(.add(ListenTarget(id: id, content: Self.notes)))
            }
            streams.append((requests, Task { await stream.run(events) }))
        }
        try await waitUntil { begin.begunCount == 8 }
        begin.open()
        // The others are read without a held state, while the client takes nothing.
        try await waitUntil { Self.readsAtOnce(of: store) == 4 && Self.holds(of: store) == 4 }
        gate.open()
        try await waitUntil { current.withLock { $0.count } == 8 }
        #expect(Self.holds(of: store) == 4)
        streams[0].requests.yield(.add(ListenTarget(id: 9, content: Self.notes)))
        try await waitUntil { current.withLock { $0.count } == 9 }
        #expect(Self.holds(of: store) == 5, "the earlier ones have been given back")
        for stream in streams {
            stream.requests.finish()
            #expect(await stream.end.value == nil)
        }
    }

    @Test("A client that takes nothing for too long gives its states back")
    func expiredStates() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.fill(memory, 0..<100)
        let (clock, begin, gate) = (TestClock(), Gate(), Gate())
        let store = WatchedStore(memory) { number async throws(StorageError) in
            guard number <= 4 else { return }
            do { try await begin.pass() } catch { throw .cancellation }
        }
        let hub = ListenHub(adapter: store)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        (configuration.clock, configuration.maximumHoldTime) = (clock, .seconds(5))
        var slow: [(requests: AsyncStream<ListenRequest>.Continuation, end: Stream)] = []
        for _ in 0..<4 {
            let stream = ListenStream(hub: hub, configuration: configuration) { response in
                if case .document = response { try await gate.pass() }
            }
            let (events, requests) = AsyncStream.makeStream(of: ListenRequest.self)
            requests.yield(.add(ListenTarget(id: 1, content: Self.notes)))
            slow.append((requests, Task { await stream.run(events) }))
        }
        try await waitUntil { begin.begunCount == 4 }
        begin.open()
        try await waitUntil { gate.begunCount == 4 }
        try await waitUntil {
            // The heartbeats, and the renewals; a timer of the reads may still be among them the first time.
            guard clock.sleeperCount >= 8 else { return false }
            let haveEnded = store.reads.count(where: { $0.holdDuration == .zero }) == 4
            if !haveEnded { await clock.advance(by: .seconds(10)) }
            return haveEnded
        }
        #expect(Self.holds(of: store) == 4)
        let client = Client()
        let stream = ListenStream(hub: hub, configuration: configuration) { client.receive($0) }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(client.add(Self.notes))
        async let ended = stream.run(requests.stream)
        try await waitUntil { client.failure != nil || client.shown != nil }
        #expect(client.failure == nil)
        #expect(Self.holds(of: store) == 5)
        requests.continuation.finish()
        #expect(await ended == nil)
        for stream in slow {
            stream.requests.finish()
            #expect(await stream.end.value == nil)
        }
    }

    @Test(
        "Documents that cannot be read do not hide those behind them, also without room for more",
        arguments: [200, 3_000]
    )
    func unreadableDocuments(count: Int) async throws {
        let memory = InMemoryStorageAdapter()
        for start in stride(from: 1_000, to: 1_000 + count, by: 100) {
            try await Self.fill(memory, start..<start + 100)
        }
        try await Self.fill(memory, 5_000..<5_005)
        let damaged = Set((1_000..<1_000 + count).map { DocumentPath("notes/\($0)") })
        let store = DamagedStore(upstream: memory, damaged: damaged, fillsUp: false)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (20_000, 20_000)
        let client = Client()
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(
            hub: ListenHub(adapter: store, mostWaitingBytes: 1),
            configuration: configuration
        ) { response in
            client.receive(response)
            if client.shown != nil { requests.continuation.finish() }
        }
        requests.continuation.yield(client.add(Self.notes))
        #expect(await stream.run(requests.stream) == nil)
        #expect(client.failure == nil)
        #expect(client.shown?.count == 5)
    }

    @Test("Changes that are kept for a read count like those that wait, and end a stream of many")
    func keptChanges() async throws {
        let memory = InMemoryStorageAdapter()
        let gate = Gate()
        let store = WatchedStore(memory) { number async throws(StorageError) in
            // The second target's documents.
            guard number == 2 else { return }
            do { try await gate.pass() } catch { throw .cancellation }
        }
        let hub = ListenHub(adapter: store, mostWaitingBytes: 100_000)
        var configuration = ListenStream.Configuration()
        configuration.pauseBeforeEnd = .zero
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let current = Mutex<Set<Int32>>([])
        let points = Mutex(0)
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            guard case .target(let change) = response else { return }
            if change.kind == .noChange { points.withLock { $0 += 1 } }
            if change.kind == .current { current.withLock { $0.formUnion(change.targets) } }
        }
        async let ended = stream.run(requests.stream)
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.notes)))
        try await waitUntil { current.withLock { $0 == [2] } }
        let limited = DocumentQuery("notes").with { $0.limit = .first(3) }
        requests.continuation.yield(.add(ListenTarget(id: 4, content: .query(limited))))
        try await waitUntil { gate.begunCount == 1 }
        for number in 0..<3 {
            try await Self.commit([Self.write(number, size: 600_000)], to: memory)
        }
        #expect(await ended?.status == .unavailable)
        #expect(current.withLock { $0 } == [2])
        // The client lacks the last changes, so that a later point would not be consistent.
        let before = points.withLock { $0 }
        await stream.handle(.beat)
        #expect(points.withLock { $0 } == before)
    }

    @Test("A large target of a store that reads only the present ends with a status of its own")
    func largeTarget() async throws {
        let store = WatchedStore(PresentStore(upstream: InMemoryStorageAdapter()))
        try await Self.fill(store, 0..<40)
        var configuration = ListenStream.Configuration()
        configuration.mostBytesAtOnce = 1_000
        let causes = Mutex<[FirestoreStatus?]>([])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(
            hub: ListenHub(adapter: store),
            configuration: configuration
        ) { response in
            guard case .target(let change) = response, change.kind == .remove else { return }
            causes.withLock { $0.append(change.cause?.status) }
            requests.continuation.finish()
        }
        let content = ListenTarget.Content.query(DocumentQuery("notes"))
        requests.continuation.yield(.add(ListenTarget(id: 2, content: content)))
        #expect(await stream.run(requests.stream) == nil)
        #expect(causes.withLock { $0 } == [.resourceExhausted])
        #expect(store.reads.map(\.maximumBytes) == [1_000])
        #expect(store.mostFoundBytes <= 1_000)
    }
}
