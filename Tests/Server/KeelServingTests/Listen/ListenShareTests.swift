import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

@Suite("What a slow client leaves to others", .timeLimit(.minutes(2)))
struct ListenShareTests {
    private static let notes = ListenTarget.Content.query(DocumentQuery("notes"))
    /// A target that is read at once.
    private static let limited = ListenTarget.Content.query(
        DocumentQuery("notes").with { $0.limit = .first(50) }
    )

    private static func write(_ count: Int, size: Int, to store: any StorageAdapter) async throws {
        let text = String(repeating: "x", count: size)
        for number in 0..<count {
            try await StorageClient(store).setDocument("notes/\(number)", ["text": .string(text)])
        }
    }

    /// The client of a stream, which takes documents once its gate is open.
    private final class Client: Sendable {
        let gate = Gate()
        private let requests = AsyncStream.makeStream(of: ListenRequest.self)
        private let added = Mutex<Set<Int32>>([])
        private let current = Mutex<Set<Int32>>([])

        /// The number of targets that the server has accepted.
        var addedCount: Int { added.withLock { $0.count } }
        /// The number of complete targets.
        var currentCount: Int { current.withLock { $0.count } }

        func add(_ target: ListenTarget) { requests.continuation.yield(.add(target)) }

        func end() { requests.continuation.finish() }

        func run(
            on hub: ListenHub,
            _ configuration: ListenStream.Configuration = .init()
        ) async -> StreamFailure? {
            let stream = ListenStream(hub: hub, configuration: configuration) { response in
                if case .document = response { try await self.gate.pass() }
                guard case .target(let change) = response else { return }
                switch change.kind {
                case .add: self.added.withLock { $0.formUnion(change.targets) }
                case .current: self.current.withLock { $0.formUnion(change.targets) }
                default: break
                }
            }
            return await stream.run(requests.stream)
        }
    }

    @Test(
        "Results that are more than its share are dropped, and read again when it has taken others",
        arguments: [false, true]
    )
    func bytes(isResumed: Bool) async throws {
        let memory = InMemoryStorageAdapter()
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        let start = try #require(try await memory.read(request).position)
        try await Self.write(3, size: 600_000, to: memory)
        let targets = [Int32](1...4).map { id in
            var target = ListenTarget(id: id, content: isResumed ? Self.notes : Self.limited)
            if isResumed { (target.resumption, target.isResumed) = (ResumeToken(start), true) }
            return target
        }
        // Less than four results.
        let hub = ListenHub(adapter: memory, mostWaitingBytes: 7_000_000)
        let (slow, other) = (Client(), Client())
        async let slowEnd = slow.run(on: hub)
        for target in targets { slow.add(target) }
        try await waitUntil { slow.gate.begunCount == 1 }
        other.gate.open()
        async let otherEnd = other.run(on: hub)
        for target in targets {
            other.add(target)
            try await waitUntil { other.currentCount == Int(target.id) }
        }
        try await waitUntil { (1_800_000..<2_000_000).contains(hub.waitingBytes) }
        other.end()
        #expect(await otherEnd == nil)
        slow.gate.open()
        try await waitUntil { slow.currentCount == targets.count && hub.waitingBytes == 0 }
        slow.end()
        #expect(await slowEnd == nil)
    }

    @Test("Of the states that the store holds for streams, it takes half, and its targets wait")
    func states() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.write(100, size: 10, to: memory)
        // The first document that is sent holds up the client's later requests too.
        let accepted = Gate()
        let store = WatchedStore(memory) { _ throws(StorageError) in
            do { try await accepted.pass() } catch { throw .cancellation }
        }
        func holds() -> Int {
            store.reads.count(where: { $0.asOf == nil && ($0.holdDuration ?? .zero) > .zero })
        }
        let hub = ListenHub(adapter: store)
        var configuration = ListenStream.Configuration()
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        let settings = configuration
        let (slow, other) = (Client(), Client())
        async let slowEnd = slow.run(on: hub, settings)
        for id in Int32(1)...4 { slow.add(ListenTarget(id: id, content: Self.notes)) }
        try await waitUntil { slow.addedCount == 4 }
        accepted.open()
        try await waitUntil { holds() == 2 }
        other.gate.open()
        async let otherEnd = other.run(on: hub, settings)
        other.add(ListenTarget(id: 1, content: Self.notes))
        try await waitUntil { other.currentCount == 1 }
        #expect(holds() == 3)
        slow.gate.open()
        try await waitUntil { slow.currentCount == 4 }
        #expect(holds() == 5)
        let atOnce = store.reads.filter { request in
            guard case .query = request.operation else { return false }
            return (request.maximumBytes ?? .max) > 5_000
        }
        #expect(atOnce.isEmpty)
        slow.end()
        other.end()
        #expect(await slowEnd == nil)
        #expect(await otherEnd == nil)
    }

    /// A store whose queries of one collection wait at a gate.
    private final class SlowCollection: ForwardingStorageAdapter {
        static let query = DocumentQuery("slow")
        let upstream: any StorageAdapter = InMemoryStorageAdapter()
        let gate = Gate()

        func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
            if case .query(let query) = request.operation, query.scope == Self.query.scope {
                do { try await gate.pass() } catch { throw .cancellation }
            }
            return try await upstream.read(request)
        }
    }

    @Test("Of the reads at the same time, half are not for slow queries of one client")
    func reads() async throws {
        let store = SlowCollection()
        let hub = ListenHub(adapter: store)
        let (slow, other) = (Client(), Client())
        async let slowEnd = slow.run(on: hub)
        for id in [Int32](1...20) {
            slow.add(ListenTarget(id: id, content: .query(SlowCollection.query)))
        }
        try await waitUntil { store.gate.begunCount == ListenHub.mostReads / 2 }
        async let otherEnd = other.run(on: hub)
        other.add(ListenTarget(id: 1, content: Self.notes))
        try await waitUntil { other.currentCount == 1 }
        #expect(slow.currentCount == 0)
        store.gate.open()
        try await waitUntil { slow.currentCount == 20 }
        slow.end()
        other.end()
        #expect(await slowEnd == nil)
        #expect(await otherEnd == nil)
    }

    // MARK: Resumptions

    /// A store whose log waits at a gate for readers of some of its changes.
    private final class SlowLog: ForwardingStorageAdapter {
        let upstream: any StorageAdapter = InMemoryStorageAdapter()
        let gate = Gate()

        func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
            if !request.scope.isEverything {
                do { try await gate.pass() } catch { throw .cancellation }
            }
            return try await upstream.changes(request)
        }

        /// Returns a target that continues at the present.
        func resumedTarget() async throws -> ListenTarget {
            var request = ReadRequest(.documents([]))
            request.needsPosition = true
            let start = try #require(try await upstream.read(request).position)
            var target = ListenTarget(id: 1, content: ListenShareTests.notes)
            (target.resumption, target.isResumed) = (ResumeToken(start), true)
            return target
        }
    }

    @Test("Many clients that come back at once read the log a few at a time")
    func resumptions() async throws {
        let store = SlowLog()
        let target = try await store.resumedTarget()
        let hub = ListenHub(adapter: store)
        let clients = (0..<ListenHub.mostReads + 3).map { _ in Client() }
        try await withThrowingDiscardingTaskGroup { group in
            for client in clients {
                group.addTask { #expect(await client.run(on: hub) == nil) }
                client.add(target)
            }
            try await waitUntil {
                store.gate.begunCount == ListenHub.mostReads && hub.reads.count == 3
            }
            store.gate.open()
            try await waitUntil { clients.allSatisfy { $0.currentCount == 1 } }
            for client in clients { client.end() }
        }
    }

    @Test("A target is read anew if reading its changes since the token takes too long")
    func slowResumption() async throws {
        let store = SlowLog()
        let target = try await store.resumedTarget()
        let clock = TestClock()
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        let settings = configuration
        let client = Client()
        async let end = client.run(on: ListenHub(adapter: store, clock: clock), settings)
        client.add(target)
        try await waitUntil { store.gate.begunCount == 1 }
        while store.gate.cancelledCount == 0 { await clock.advance(by: .seconds(1)) }
        try await waitUntil { client.currentCount == 1 }
        #expect(store.gate.cancelledCount == 1)
        client.end()
        #expect(await end == nil)
    }

    // MARK: Several streams of one caller

    private static func configuration(of principal: String) -> ListenStream.Configuration {
        var configuration = ListenStream.Configuration()
        configuration.caller = .principal(principal)
        (configuration.pageBytes, configuration.scannedPageBytes) = (5_000, 5_000)
        configuration.pauseBeforeEnd = .zero
        return configuration
    }

    /// The end of a stream, once it has ended.
    private final class End: Sendable {
        private let value = Mutex<StreamFailure??>(nil)

        var status: FirestoreStatus? { value.withLock { $0.flatMap { $0 } }?.status }
        var hasCome: Bool { value.withLock { $0 != nil } }

        func set(_ failure: StreamFailure?) { value.withLock { $0 = .some(failure) } }
    }

    /// Runs streams of one principal, each with the same targets, beside one of another principal.
    private static func race(
        _ greedy: [Client],
        _ targets: [ListenTarget],
        _ other: Client,
        on hub: ListenHub,
        _ body: ([End]) async throws -> Void
    ) async throws {
        let ends = greedy.map { _ in End() }
        try await withThrowingDiscardingTaskGroup { group in
            for (client, end) in zip(greedy, ends) {
                group.addTask {
                    end.set(await client.run(on: hub, Self.configuration(of: "greedy")))
                }
                for target in targets { client.add(target) }
            }
            group.addTask {
                #expect(await other.run(on: hub, Self.configuration(of: "other")) == nil)
            }
            try await body(ends)
            for client in greedy + [other] { client.end() }
        }
    }

    @Test("Two greedy streams of one principal leave half of the reads at the same time to others")
    func readsOfPrincipal() async throws {
        let store = SlowCollection()
        let hub = ListenHub(adapter: store)
        let (greedy, other) = ([Client(), Client()], Client())
        let targets = [Int32](1...20).map { id in
            ListenTarget(id: id, content: .query(SlowCollection.query))
        }
        try await Self.race(greedy, targets, other, on: hub) { ends in
            try await waitUntil { store.gate.begunCount == ListenHub.mostReads / 2 }
            other.add(ListenTarget(id: 1, content: Self.notes))
            try await waitUntil { other.currentCount == 1 }
            #expect(store.gate.begunCount == ListenHub.mostReads / 2)
            #expect(greedy.allSatisfy { $0.currentCount == 0 })
            store.gate.open()
            try await waitUntil { greedy.allSatisfy { $0.currentCount == 20 } }
            #expect(ends.allSatisfy { !$0.hasCome })
        }
    }

    @Test("A stream whose client takes nothing does not keep others of its principal waiting")
    func streamsOfPrincipal() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.write(100, size: 10, to: memory)
        let hub = ListenHub(adapter: memory)
        let greedy = [Client(), Client()]
        let targets = [Int32](1...8).map { ListenTarget(id: $0, content: Self.notes) }
        greedy[1].gate.open()
        try await Self.race(greedy, targets, Client(), on: hub) { ends in
            try await waitUntil { greedy[1].currentCount == 8 }
            #expect(greedy[0].currentCount == 0)
            greedy[0].gate.open()
            try await waitUntil { greedy[0].currentCount == 8 }
            #expect(ends.allSatisfy { !$0.hasCome })
        }
    }

    @Test("Two greedy streams of one principal leave half of the states that the store holds")
    func statesOfPrincipal() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.write(100, size: 10, to: memory)
        let store = WatchedStore(memory)
        func holds() -> Int {
            store.reads.count(where: { $0.asOf == nil && ($0.holdDuration ?? .zero) > .zero })
        }
        let hub = ListenHub(adapter: store)
        let (greedy, other) = ([Client(), Client()], Client())
        let targets = [Int32](1...4).map { ListenTarget(id: $0, content: Self.notes) }
        try await Self.race(greedy, targets, other, on: hub) { ends in
            try await waitUntil { holds() == 2 && greedy.allSatisfy { $0.gate.begunCount == 1 } }
            other.gate.open()
            other.add(ListenTarget(id: 1, content: Self.notes))
            try await waitUntil { other.currentCount == 1 }
            #expect(holds() == 3)
            for client in greedy { client.gate.open() }
            try await waitUntil { greedy.allSatisfy { $0.currentCount == 4 } }
            #expect(ends.allSatisfy { !$0.hasCome })
        }
    }

    @Test("Many streams of one principal end before they hold more than half of the bytes")
    func bytesOfPrincipal() async throws {
        let memory = InMemoryStorageAdapter()
        try await Self.write(3, size: 600_000, to: memory)
        // Room for eight results, and so for four of one principal besides another one.
        let hub = ListenHub(adapter: memory, mostWaitingBytes: 16_000_000)
        let (greedy, other) = ((0..<10).map { _ in Client() }, Client())
        let target = ListenTarget(id: 1, content: Self.limited)
        try await Self.race(greedy, [target], other, on: hub) { ends in
            try await waitUntil {
                zip(greedy, ends).allSatisfy { $0.gate.begunCount == 1 || $1.hasCome }
            }
            #expect(hub.waitingBytes < 10_000_000)
            #expect(ends.contains { $0.hasCome })
            #expect(ends.allSatisfy { !$0.hasCome || $0.status == .unavailable })
            other.gate.open()
            other.add(target)
            try await waitUntil { other.currentCount == 1 }
            for client in greedy { client.gate.open() }
        }
        try await waitUntil { hub.waitingBytes == 0 }
    }

    @Test("The streams of an anonymous caller are those of its connection")
    func connections() {
        let (ann, bob) = (StoragePrincipal(id: "ann"), StoragePrincipal(id: "bob"))
        #expect(CallerID(ann, on: 1) == CallerID(ann, on: 2))
        #expect(CallerID(ann, on: 1) != CallerID(bob, on: 1))
        #expect(CallerID(nil, on: 1) == .connection(1))
        #expect(CallerID(nil, on: nil) == nil)
        let hub = ListenHub(adapter: InMemoryStorageAdapter())
        let callers = (0..<2).map { _ in hub.enter(as: .connection(1)) }
        #expect(callers[0] === callers[1])
        #expect(hub.enter(as: .connection(2)) !== callers[0])
        #expect(hub.enter(as: nil) !== hub.enter(as: nil))
        for caller in callers { hub.leave(caller) }
        #expect(hub.enter(as: .connection(1)) !== callers[0])
    }
}
