import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

@Suite("Room for what streams of changes read", .timeLimit(.minutes(10)))
struct ListenRoomTests {
    private static let notes = ListenTarget.Content.query(DocumentQuery("notes"))
    /// A target that is read at once.
    private static let limited = ListenTarget.Content.query(
        DocumentQuery("notes").with { $0.limit = .first(50) }
    )

    private static func write(_ count: Int, size: Int, to store: any StorageAdapter) async throws {
        let fields: DocumentFields = ["text": .string(String(repeating: "x", count: size))]
        for number in 0..<count {
            let write = DocumentWrite("notes/\(number)", .set(DocumentBody(fields)))
            for result in try await store.commit([WriteBatch([write])]) { _ = try result.get() }
        }
    }

    /// Returns a target that is read at once, or has been resumed before the next commits.
    private static func target(
        isResumed: Bool,
        in store: any StorageAdapter
    ) async throws -> ListenTarget {
        guard isResumed else { return ListenTarget(id: 2, content: limited) }
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        let position = try #require(try await store.read(request).position)
        var target = ListenTarget(id: 2, content: notes)
        (target.resumption, target.isResumed) = (ResumeToken(position), true)
        return target
    }

    /// Runs a stream with one target until that is current.
    private static func run(
        _ target: ListenTarget,
        on hub: ListenHub,
        _ configuration: ListenStream.Configuration = .init()
    ) async -> (documents: Int, end: FirestoreStatus?) {
        let documents = Mutex(0)
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            if case .document = response { documents.withLock { $0 += 1 } }
            guard case .target(let change) = response, change.kind == .current else { return }
            requests.continuation.finish()
        }
        requests.continuation.yield(.add(target))
        let failure = await stream.run(requests.stream)
        return (documents.withLock { $0 }, failure?.status)
    }

    @Test(
        "What is read at once is counted until the client has taken it",
        arguments: [false, true]
    )
    func counted(isResumed: Bool) async throws {
        let store = InMemoryStorageAdapter()
        let target = try await Self.target(isResumed: isResumed, in: store)
        try await Self.write(3, size: 100_000, to: store)
        let (gate, hub) = (Gate(), ListenHub(adapter: store))
        let isCurrent = Mutex(false)
        let stream = ListenStream(hub: hub) { response in
            if case .document = response { try await gate.pass() }
            guard case .target(let change) = response, change.kind == .current else { return }
            isCurrent.withLock { $0 = true }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(.add(target))
        async let ended = stream.run(requests.stream)
        try await waitUntil { gate.begunCount == 1 }
        #expect(hub.waitingBytes > 300_000)
        gate.open()
        try await waitUntil { isCurrent.withLock { $0 } && hub.waitingBytes == 0 }
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    @Test(
        "While others take all room, a stream that reads much at once ends for a while",
        arguments: [false, true]
    )
    func noRoom(isResumed: Bool) async throws {
        let store = InMemoryStorageAdapter()
        let target = try await Self.target(isResumed: isResumed, in: store)
        try await Self.write(3, size: 600_000, to: store)
        let hub = ListenHub(adapter: store)
        let others = CountedBytes(in: hub.waiting)
        others.set(300 << 20)
        var configuration = ListenStream.Configuration()
        configuration.pauseBeforeEnd = .zero
        let (documents, end) = await Self.run(target, on: hub, configuration)
        #expect(documents == 0 && end == .unavailable)
        others.set(0)
        #expect(hub.waitingBytes == 0)
    }

    @Test("What is larger than the room for all is sent alone", arguments: [false, true])
    func littleRoom(isResumed: Bool) async throws {
        let store = InMemoryStorageAdapter()
        let target = try await Self.target(isResumed: isResumed, in: store)
        try await Self.write(3, size: 600_000, to: store)
        let hub = ListenHub(adapter: store, mostWaitingBytes: 1_000_000)
        let (documents, end) = await Self.run(target, on: hub)
        #expect(documents == 3 && end == nil)
    }

    @Test("A target that is too large for the server ends, although a little waits for others")
    func tooLarge() async throws {
        let store = InMemoryStorageAdapter()
        try await Self.write(3, size: 600_000, to: store)
        let hub = ListenHub(adapter: store, mostWaitingBytes: 400_000)
        let others = CountedBytes(in: hub.waiting)
        others.set(1_000)
        var configuration = ListenStream.Configuration()
        (configuration.mostBytesAtOnce, configuration.pauseBeforeEnd) = (1_000_000, .zero)
        let causes = Mutex<[FirestoreStatus?]>([])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            guard case .target(let change) = response, change.kind == .remove else { return }
            causes.withLock { $0.append(change.cause?.status) }
            requests.continuation.finish()
        }
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.limited)))
        #expect(await stream.run(requests.stream) == nil)
        #expect(causes.withLock { $0 } == [.resourceExhausted])
        others.set(0)
    }

    @Test("A large target for which the store holds no state is asked for again, and not lost")
    func lackOfStates() async throws {
        let store = InMemoryStorageAdapter()
        try await Self.write(100, size: 10, to: store)
        let hub = ListenHub(adapter: store)
        // All that streams may take.
        for _ in 0..<ListenHub.mostHolds { #expect(hub.beginHold(for: ListenCaller(in: hub))) }
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        (configuration.mostBytesAtOnce, configuration.pauseBeforeEnd) = (10_000, .zero)
        let removed = Mutex(0)
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            guard case .target(let change) = response, change.kind == .remove else { return }
            removed.withLock { $0 += 1 }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.notes)))
        #expect(await stream.run(requests.stream)?.status == .unavailable)
        #expect(removed.withLock { $0 } == 0)
    }

    @Test("What is dropped for lack of room is not counted while the client is slow")
    func dropped() async throws {
        let (reading, taking) = (Gate(), Gate())
        let store = Self.gated(1, by: reading)
        try await Self.write(3, size: 600_000, to: store)
        let hub = ListenHub(adapter: store)
        var configuration = ListenStream.Configuration()
        configuration.pauseBeforeEnd = .zero
        let stream = ListenStream(hub: hub, configuration: configuration) { response in
            if case .document = response { try await taking.pass() }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        async let ended = stream.run(requests.stream)
        requests.continuation.yield(.add(ListenTarget(id: 2, content: Self.limited)))
        try await waitUntil { reading.begunCount == 1 }
        let small = ListenTarget.Content.documents(["notes/0"])
        requests.continuation.yield(.add(ListenTarget(id: 4, content: small)))
        try await waitUntil { taking.begunCount == 1 }
        let others = CountedBytes(in: hub.waiting)
        others.set(300 << 20)
        reading.open()
        try await waitUntil { store.mostFoundBytes > 1_800_000 && hub.waitingBytes < 301 << 20 }
        taking.open()
        #expect(await ended?.status == .unavailable)
        others.set(0)
    }

    @Test("A few documents are read although others take all room")
    func fewDocuments() async throws {
        let store = InMemoryStorageAdapter()
        try await Self.write(3, size: 1_000, to: store)
        let hub = ListenHub(adapter: store)
        let others = CountedBytes(in: hub.waiting)
        others.set(300 << 20)
        let target = ListenTarget(id: 2, content: Self.limited)
        let (documents, end) = await Self.run(target, on: hub)
        #expect(documents == 3 && end == nil)
        others.set(0)
        #expect(hub.waitingBytes == 0)
    }

    /// A store whose first queries wait at a gate.
    private static func gated(_ count: Int, by gate: Gate) -> WatchedStore {
        WatchedStore(InMemoryStorageAdapter()) { number async throws(StorageError) in
            guard number <= count else { return }
            do { try await gate.pass() } catch { throw .cancellation }
        }
    }

    @Test("A target that was removed before it was read is not read any more")
    func removedTarget() async throws {
        let gate = Gate()
        let store = Self.gated(4, by: gate)
        let current = Mutex<Set<Int32>>([])
        let removed = Mutex<Set<Int32>>([])
        let stream = ListenStream(hub: ListenHub(adapter: store)) { response in
            guard case .target(let change) = response else { return }
            if change.kind == .current { current.withLock { $0.formUnion(change.targets) } }
            if change.kind == .remove { removed.withLock { $0.formUnion(change.targets) } }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        async let ended = stream.run(requests.stream)
        for id in Int32(1)...4 {
            requests.continuation.yield(.add(ListenTarget(id: id, content: Self.notes)))
        }
        try await waitUntil { gate.begunCount == 4 }
        let others = DocumentQuery("others")
        requests.continuation.yield(.add(ListenTarget(id: 9, content: .query(others))))
        requests.continuation.yield(.remove(9))
        try await waitUntil { removed.withLock { $0 == [9] } }
        requests.continuation.yield(.add(ListenTarget(id: 10, content: Self.notes)))
        gate.open()
        try await waitUntil { current.withLock { $0.count } == 5 }
        requests.continuation.finish()
        #expect(await ended == nil)
        #expect(current.withLock { $0.contains(10) })
        let isRead = store.reads.contains { request in
            guard case .query(let query) = request.operation else { return false }
            return query.scope == others.scope
        }
        #expect(!isRead)
    }

    @Test("Only some targets that are read at once wait for a slow client", arguments: [4, 32])
    func slowClient(count: Int) async throws {
        // More of those that are a few documents wait.
        let isSmall = count > 4
        let content = isSmall ? ListenTarget.Content.documents(["notes/0"]) : Self.limited
        let (reading, taking) = (Gate(), Gate())
        let store = Self.gated(count, by: reading)
        try await Self.write(3, size: 100_000, to: store)
        let hub = ListenHub(adapter: store)
        let added = Mutex(0)
        let stream = ListenStream(hub: hub) { response in
            if case .document = response { try await taking.pass() }
            guard case .target(let change) = response, change.kind == .add else { return }
            added.withLock { $0 += 1 }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        async let ended = stream.run(requests.stream)
        for id in 1...count {
            requests.continuation.yield(.add(ListenTarget(id: Int32(id), content: content)))
        }
        try await waitUntil { reading.begunCount == count }
        let last = ListenTarget(id: Int32(count + 1), content: content)
        requests.continuation.yield(.add(last))
        try await waitUntil { added.withLock { $0 } == count + 1 }
        reading.open()
        let size = count * (isSmall ? 100_000 : 300_000)
        try await waitUntil { taking.begunCount == 1 && hub.waitingBytes > size }
        #expect(store.reads.count == count)
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    @Test("A client that adds and removes targets faster than they are read is stopped")
    func restlessClient() async throws {
        let gate = Gate()
        let stream = ListenStream(hub: ListenHub(adapter: Self.gated(.max, by: gate))) { _ in }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        async let ended = stream.run(requests.stream)
        for id in Int32(1)...4 {
            requests.continuation.yield(.add(ListenTarget(id: id, content: Self.notes)))
        }
        try await waitUntil { gate.begunCount == 4 }
        for _ in 0..<5_000 {
            requests.continuation.yield(.add(ListenTarget(id: 9, content: Self.notes)))
            requests.continuation.yield(.remove(9))
        }
        requests.continuation.finish()
        #expect(await ended?.status == .resourceExhausted)
    }

    /// A store that at first cannot hold a state.
    private final class FullStore: ForwardingStorageAdapter {
        let upstream: any StorageAdapter
        let isFull = Mutex(true)

        init(_ upstream: any StorageAdapter) { self.upstream = upstream }

        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            var result = try await upstream.read(request)
            if request.holdDuration != nil, isFull.withLock({ $0 }) { result.time = nil }
            return result
        }
    }

    @Test("Streams whose states the store cannot hold leave their places to others")
    func refusedStates() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.write(100, size: 10, to: memory)
        let full = FullStore(memory)
        let reading = Gate()
        let added = Mutex(0)
        let store = WatchedStore(full) { _ async throws(StorageError) in
            _ = try? await reading.pass()
        }
        let hub = ListenHub(adapter: store)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        let mostAtOnce = configuration.mostBytesAtOnce
        let gate = Gate()
        let slow = ListenStream(hub: hub, configuration: configuration) { response in
            switch response {
            case .document: try await gate.pass()
            case .target(let change) where change.kind == .add: added.withLock { $0 += 1 }
            default: break
            }
        }
        let slowRequests = AsyncStream.makeStream(of: ListenRequest.self)
        async let slowEnd = slow.run(slowRequests.stream)
        for id in Int32(1)...4 {
            slowRequests.continuation.yield(.add(ListenTarget(id: id, content: Self.notes)))
        }
        // The stream takes no request while it waits for its client.
        try await waitUntil { added.withLock { $0 } == 4 }
        reading.open()
        try await waitUntil { store.reads.count(where: { $0.maximumBytes == mostAtOnce }) == 4 }
        full.isFull.withLock { $0 = false }
        let target = ListenTarget(id: 2, content: Self.notes)
        #expect(await Self.run(target, on: hub, configuration).end == nil)
        let holds = store.reads.filter { $0.asOf == nil && ($0.holdDuration ?? .zero) > .zero }
        #expect(holds.count == 5)
        slowRequests.continuation.finish()
        #expect(await slowEnd == nil)
    }

    @Test("A stream whose store is away ends after a pause: its client would be back at once")
    func pause() async throws {
        let away = StorageError(.unavailable, "the store is away")
        let store = WatchedStore(InMemoryStorageAdapter()) { _ async throws(StorageError) in
            throw away
        }
        let clock = TestClock()
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        let stream = ListenStream(
            hub: ListenHub(adapter: store),
            configuration: configuration
        ) { _ in }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        requests.continuation.yield(.add(ListenTarget(id: 2, content: .documents(["notes/1"]))))
        async let ended = stream.run(requests.stream)
        // The heartbeat, and the pause.
        try await waitUntil { clock.sleeperCount >= 2 }
        await clock.advance(by: .seconds(3))
        #expect(await ended?.status == .unavailable)
    }

    @Test("During its pause, a stream does nothing for its client's requests")
    func requestsDuringPause() async throws {
        let away = StorageError(.unavailable, "the store is away")
        let store = WatchedStore(InMemoryStorageAdapter()) { _ async throws(StorageError) in
            throw away
        }
        let clock = TestClock()
        let asked = Mutex(0)
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        configuration.permission = { _, _ in
            asked.withLock { $0 += 1 }
            return .granted(for: nil)
        }
        let hub = ListenHub(adapter: store)
        let stream = ListenStream(hub: hub, configuration: configuration) { _ in }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let content = ListenTarget.Content.documents(["notes/1"])
        requests.continuation.yield(.add(ListenTarget(id: 2, content: content)))
        async let ended = stream.run(requests.stream)
        try await waitUntil { clock.sleeperCount >= 2 }
        await stream.handle(.request(.add(ListenTarget(id: 4, content: content))))
        #expect(asked.withLock { $0 } == 1)
        #expect(store.reads.count == 1)
        await clock.advance(by: .seconds(3))
        #expect(await ended?.status == .unavailable)
    }

    @Test("Nothing waits for the end of the permissions of targets that were removed")
    func permissionsOfRemovedTargets() async throws {
        let clock = TestClock()
        let removed = Mutex(0)
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        configuration.permission = { _, _ in .granted(for: .seconds(3_600)) }
        let stream = ListenStream(
            hub: ListenHub(adapter: InMemoryStorageAdapter()),
            configuration: configuration
        ) { response in
            guard case .target(let change) = response, change.kind == .remove else { return }
            removed.withLock { $0 += 1 }
        }
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        async let ended = stream.run(requests.stream)
        for id in Int32(1)...50 {
            let content = ListenTarget.Content.documents(["notes/1"])
            requests.continuation.yield(.add(ListenTarget(id: id, content: content)))
            requests.continuation.yield(.remove(id))
        }
        try await waitUntil { removed.withLock { $0 } == 50 }
        // The timer of the stream, which also looks whether it is quiet.
        try await waitUntil { clock.sleeperCount == 1 }
        requests.continuation.finish()
        #expect(await ended == nil)
    }
}
