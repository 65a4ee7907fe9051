import Foundation
import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Users of a shared repository", .timeLimit(.minutes(2)))
struct MemoryUsersTests {
    /// The signed-in user, set by a test.
    private final class Session: Sendable {
        private let name = Mutex<String?>("ann")
        var identity: String? { name.withLock { $0 } }
        func signIn(_ user: String?) { name.withLock { $0 = user } }
    }

    private let session = Session()

    private func world(
        store: WatchedStore = WatchedStore(),
        memory: ResourceMemory? = ResourceMemory(),
        session other: Session? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        outbox: ((StorageClient) -> Outbox)? = nil
    ) -> PlaceWorld {
        let session = other ?? session
        return PlaceWorld(
            store: store,
            memory: memory,
            ledger: { CollectionFetchLedger($0) },
            identity: { session.identity },
            clock: clock,
            outbox: outbox
        )
    }

    private func code(_ body: () async throws -> Void) async -> RepositoryError.Code? {
        let error = await #expect(throws: RepositoryError.self) { try await body() }
        return error?.code
    }

    @Test(
        "Users do not see what another user has loaded, in memory or in the store",
        arguments: [true, false]
    )
    func keepsApart(withMemory: Bool) async throws {
        let world = world(memory: withMemory ? ResourceMemory() : nil)
        let places = world.places
        world.service.set("1", 1)
        #expect(try await places.all().count == 1)
        #expect(try await places.entity("1").version == 1)
        #expect(try await places.search("1").count == 1)

        session.signIn("ben")
        world.service.goOffline()
        for policy in [FetchPolicy.cacheOnly, .cacheFirst(), .networkFirst] {
            let isOnline = policy != .cacheOnly
            let expected: RepositoryError.Code = isOnline ? .unreachable : .notCached
            #expect(await code { _ = try await places.entity("1", policy) } == expected)
            #expect(await code { _ = try await places.all(policy) } == expected)
            #expect(await code { _ = try await places.search("1", policy) } == expected)
            let predicate = #Predicate<PlaceDTO> { $0.version > 0 }
            #expect(await code { _ = try await places.query(where: predicate, policy) } == expected)
        }
        world.service.goOffline(false)
        world.service.set("1", 7)
        #expect(try await places.all().map(\.version) == [7])
        session.signIn("ann")
        world.service.goOffline()
        #expect(await code { _ = try await places.all() } == .unreachable)
        #expect(await code { _ = try await places.search("1") } == .unreachable)
        #expect(await code { _ = try await places.entity("1", .cacheOnly) } == .notCached)
    }

    @Test("The same user finds cached values, in memory and across restarts")
    func keepsForOne() async throws {
        let store = WatchedStore()
        let world = world(store: store)
        world.service.set("1", 1)
        _ = try await world.places.all()
        let reads = world.store.readCount
        _ = try await world.places.all()
        #expect(world.store.readCount == reads)
        let restarted = self.world(store: store)
        restarted.service.goOffline()
        #expect(try await restarted.places.all().map(\.version) == [1])
        // A user who signed in while the process was not running.
        session.signIn("ben")
        let later = self.world(store: store)
        #expect(await code { _ = try await later.places.all(.cacheOnly) } == .notCached)
    }

    @Test("After all entities were removed, not even an empty list counts as kept")
    func removesAll() async throws {
        let world = world()
        world.service.set("1", 1)
        #expect(try await world.places.all().count == 1)
        #expect(try await world.places.search("1").count == 1)
        try await world.places.removeAll()
        world.service.goOffline()
        #expect(await code { _ = try await world.places.all(.cacheOnly) } == .notCached)
        #expect(await code { _ = try await world.places.all() } == .unreachable)
        #expect(await code { _ = try await world.places.search("1", .cacheOnly) } == .notCached)
        world.service.goOffline(false)
        #expect(try await world.places.all().map(\.version) == [1])
    }

    @Test("A change of the user that is interrupted leaves no list that counts as kept")
    func survivesInterruption() async throws {
        let (session, isInterrupted) = (session, Watched(false))
        let world = PlaceWorld(
            ledger: { storage in
                InterruptedLedger(
                    upstream: CollectionFetchLedger(storage),
                    storage: storage,
                    isInterrupted: isInterrupted
                )
            },
            identity: { session.identity }
        )
        world.service.set("1", 1)
        _ = try await world.places.all()
        session.signIn("ben")
        isInterrupted.change { $0 = true }
        _ = await code { _ = try await world.places.all() }
        isInterrupted.change { $0 = false }
        session.signIn("ann")
        #expect(try await world.places.all().map(\.version) == [1])
    }

    @Test("Signing out empties the memory")
    func empties() async throws {
        let world = world()
        world.service.set("1", 1)
        _ = try await world.places.all()
        let memory = try #require(world.memory)
        #expect(memory.count > 0)
        await memory.removeAll()
        #expect(memory.count == 0)
        _ = try await world.places.all()
        #expect(memory.count > 0)
        session.signIn("nobody")
        world.service.goOffline()
        _ = try? await world.places.all()
        #expect(memory.count == 0)
    }

    @Test("A response for a user who has signed out is neither cached nor returned")
    func dropsAnswers() async throws {
        let world = world()
        let places = world.places
        world.service.set("1", 1)
        let gate = Gate()
        world.service.gate.withLock { $0 = gate }
        async let early = code { _ = try await places.entity("1", .networkOnly) }
        try await waitUntil { gate.begunCount == 1 }
        session.signIn("ben")
        world.service.gate.withLock { $0 = nil }
        world.service.remove("1")
        gate.open()
        #expect(await early == .signInRequired)
        #expect(await code { _ = try await places.entity("1", .cacheOnly) } == .notCached)
        #expect(try await places.all().isEmpty)
    }

    @Test("A response that a closure loaded as another user is not kept, even if the first is back")
    func dropsAnswersToOthers() async throws {
        let session = session
        let world = world()
        let calls = Counter()
        let visits = EntityRepository<Place>(
            "visits",
            remote: RemoteEntities<PlaceDTO>().listing {
                let number = calls.next()
                if number == 1 {
                    session.signIn("ben")
                    _ = try await world.places.all()
                }
                defer { session.signIn("ann") }
                return [PlaceDTO(id: session.identity ?? "", version: number)]
            },
            local: CollectionDataSource(world.storage.collection("visits", as: PlaceDTO.self)),
            loader: world.loader,
            id: { $0.id }
        )
        #expect(try await visits.all().map(\.id) == ["ann"])
        #expect(try await visits.all(.cacheOnly).map(\.id) == ["ann"])
    }

    @Test(
        "A call that does not reach the service returns no copy of a user who has signed out",
        arguments: [FetchPolicy.cacheFirst(maxAge: .zero), .networkFirst]
    )
    func dropsCopies(policy: FetchPolicy) async throws {
        let world = world()
        world.service.set("1", 1)
        _ = try await world.places.entity("1")
        world.wall.advance(by: 1)
        let gate = Gate()
        let places = EntityRepository<Place>(
            "places",
            remote: RemoteEntities<PlaceDTO>().finding { _ in
                _ = try? await gate.pass()
                throw DataSourceError(.unreachable, source: .remote)
            },
            local: CollectionDataSource(world.storage.collection("places", as: PlaceDTO.self)),
            loader: world.loader,
            id: { $0.id }
        )
        async let early = code { _ = try await places.entity("1", policy) }
        try await waitUntil { gate.begunCount == 1 }
        session.signIn("ben")
        gate.open()
        #expect(await early == .signInRequired)
    }

    @Test("A read that started for one user does not return what another has loaded meanwhile")
    func dropsReads() async throws {
        let world = world()
        let places = world.places
        world.service.set("1", 1)
        _ = try await places.all()
        await world.memory?.removeAll()
        let hold = Hold()
        async let early = Hold.$current.withValue(hold) {
            await code { _ = try await places.all(.cacheOnly) }
        }
        try await waitUntil { hold.gate.begunCount == 1 }
        session.signIn("ben")
        _ = try await places.all()
        hold.gate.open()
        #expect(await early == .signInRequired)
    }

    @Test("A call that learns late who was signed in leaves the values of the next user")
    func leavesNextUsersValues() async throws {
        let session = session
        let gate = Gate()
        let isLate = Mutex(false)
        let world = PlaceWorld(
            ledger: { CollectionFetchLedger($0) },
            identity: {
                let name = session.identity
                let waits = isLate.withLock { isLate in
                    defer { isLate = false }
                    return isLate
                }
                if waits { _ = try? await gate.pass() }
                return name
            },
            outbox: { Outbox($0) }
        )
        let places = world.places
        world.service.set("1", 1)
        _ = try await places.all()
        isLate.withLock { $0 = true }
        async let early = code { _ = try await places.all(.cacheOnly) }
        try await waitUntil { gate.begunCount == 1 }
        session.signIn("ben")
        try await places.saveOffline(Place(id: "1", version: 2))
        gate.open()
        #expect(await early == .signInRequired)
        #expect(try await places.entity("1", .cacheOnly).version == 2)
    }

    @Test("A write for a user who has signed out changes nothing locally")
    func dropsWrites() async throws {
        let world = world(outbox: { Outbox($0) })
        let places = world.places
        try await places.saveOffline(Place(id: "1", version: 2))
        #expect(try await places.entity("1", .cacheOnly).version == 2)
        session.signIn("ben")
        // Ann's unsent changes do not affect Ben's data.
        world.service.set("1", 9)
        #expect(try await places.entity("1").version == 9)
        #expect(try await places.all(.networkOnly).map(\.version) == [9])
        try await places.saveOffline(Place(id: "1", version: 10))
        #expect(try await places.entity("1", .networkOnly).version == 10)
        let outbox = Outbox(world.storage)
        #expect(try await outbox.pending(of: "ann").count == 1)
        #expect(try await outbox.pending(of: "ben").count == 1)
    }

    @Test("A user who signs in again finds unsent changes, which are sent in order")
    func keepsChangesOfOne() async throws {
        let world = world(outbox: { Outbox($0) })
        try await world.places.saveOffline(Place(id: "1", version: 2))
        // Signed out by a denied renewal, and in again.
        session.signIn(nil)
        session.signIn("ann")
        #expect(try await world.places.entity("1", .cacheOnly).version == 2)
        try await world.places.saveOffline(Place(id: "1", version: 3))
        let pending = try await Outbox(world.storage).pending(of: "ann")
        #expect(Set(pending.map(\.write.key)).count == 1 && pending.count == 2)
    }

    @Test("A user whose copies were removed sees the service's entities, except those deleted here")
    func showsEntitiesOfUnsentChanges() async throws {
        let world = world(outbox: { Outbox($0) })
        let places = world.places
        for id in ["1", "2", "3", "4"] { world.service.set(id, 1) }
        for id in ["1", "4"] { try await places.saveOffline(Place(id: id, version: 2)) }
        try await places.deleteOffline("2")
        session.signIn("ben")
        #expect(try await places.all().count == 4)
        session.signIn("ann")
        #expect(try await places.entity("1", .networkOnly).version == 1)
        #expect(try await places.all(.networkOnly).map(\.id) == ["1", "3", "4"])
        #expect(try await places.all(.cacheOnly).map(\.id) == ["1", "3", "4"])
        #expect(try await places.search("1").map(\.id) == ["1"])
        #expect(try await places.search("2").isEmpty)
        await expectError(RepositoryError.self, .notFound) {
            try await places.entity("2", .networkOnly)
        }
        try await places.saveOffline(Place(id: "1", version: 3))
        #expect(try await places.all(.networkOnly).map(\.version) == [3, 1, 1])
        try await places.deleteOffline("1")
        #expect(try await places.all(.networkOnly).map(\.id) == ["3", "4"])
    }

    @Test(
        "Two processes with different users on one store show each user only own values",
        arguments: [true, false]
    )
    func separatesProcesses(withMemory: Bool) async throws {
        let store = WatchedStore()
        func process(_ user: String) -> PlaceWorld {
            let session = Session()
            session.signIn(user)
            let memory = withMemory ? ResourceMemory() : nil
            return world(store: store, memory: memory, session: session, outbox: { Outbox($0) })
        }
        let (ann, ben) = (process("ann"), process("ben"))
        ann.service.set("1", 1)
        ben.service.set("1", 7)
        for (one, other) in [(ann, ben), (ben, ann), (ann, ben)] {
            let mine = try #require(one.service.version(of: "1"))
            #expect(try await one.places.all(.networkOnly).map(\.version) == [mine])
            try await one.places.saveOffline(Place(id: "2", version: 2))
            // The memory may still have values of the other user, who may see them.
            other.service.goOffline()
            let seen = try? await other.places.all(.cacheFirst())
            #expect(seen?.contains { $0.id == "2" || $0.version == mine } != true)
            let predicate = #Predicate<PlaceDTO> { $0.version > 0 }
            let found = try? await other.places.query(where: predicate, .cacheOnly)
            #expect(found?.contains { $0.id == "2" || $0.version == mine } != true)
            other.service.goOffline(false)
            for entry in try await Outbox(one.storage).pending() {
                try await Outbox(one.storage).discard(entry.id)
            }
        }
    }

    @Test("An observer notices that another user has signed in, although nobody else asks")
    func noticesUsers() async throws {
        let world = world()
        world.service.set("1", 1)
        var states = world.places.observeAll(.cacheFirst()).makeAsyncIterator()
        while let state = await states.next() {
            if case .loaded = state { break }
        }
        session.signIn("ben")
        world.service.set("1", 7)
        world.loader.userChanged()
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next()?.value?.map(\.version) == [7])
        // Any other call for the next user tells it, too.
        session.signIn("ann")
        _ = try await world.places.search("1")
        #expect(await states.next() == .loading(last: nil))
    }

    @Test("An observer drops its value if another user signs in during a fetch, and loads again")
    func dropsShownValues() async throws {
        let session = session
        let world = world()
        let calls = Counter()
        let places = EntityRepository<Place>(
            "places",
            remote: RemoteEntities<PlaceDTO>().listing {
                let number = calls.next()
                if number == 2 { session.signIn("ben") }
                return [PlaceDTO(id: "1", version: number)]
            },
            local: CollectionDataSource(world.storage.collection("places", as: PlaceDTO.self)),
            loader: world.loader,
            id: { $0.id }
        )
        var states = places.observeAll(.networkFirst).makeAsyncIterator()
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next()?.value?.map(\.version) == [1])
        try await places.invalidate()
        #expect(await states.next()?.value?.map(\.version) == [1])
        #expect(await states.next() == .failed(RepositoryError(.signInRequired), last: nil))
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next()?.value?.map(\.version) == [3])
    }

    @Test("An observer tries again while the user is unknown")
    func retriesUnknown() async throws {
        let clock = TestClock()
        let world = world(clock: clock)
        world.service.set("1", 1)
        session.signIn(nil)
        let states = world.places.observeAll(.cacheFirst())
        let reader = Task {
            for await state in states {
                if case .loaded(let places, _) = state { return places.count }
            }
            return 0
        }
        await clock.waitForSleepers()
        session.signIn("ann")
        await clock.advance(by: .seconds(1))
        #expect(await reader.value == 1)
    }

    @Test("An observer does not see what was shown to another user")
    func watches() async throws {
        let world = world()
        world.service.set("1", 1)
        var states = world.places.observeAll(.cacheFirst()).makeAsyncIterator()
        while let state = await states.next() {
            if case .loaded = state { break }
        }
        session.signIn("ben")
        world.service.goOffline()
        try await world.places.invalidate()
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next() == .failed(RepositoryError(.unreachable), last: nil))
    }

    @Test("Nothing is read while the user is unknown, and nothing is removed")
    func refusesUnknown() async throws {
        let world = world()
        world.service.set("1", 1)
        _ = try await world.places.all()
        session.signIn(nil)
        #expect(await code { _ = try await world.places.all(.cacheOnly) } == .unavailable)
        session.signIn("ann")
        world.service.goOffline()
        #expect(try await world.places.all(.cacheOnly).count == 1)
    }

    @Test("A custom resource is returned only to the user it was fetched for")
    func keepsResourcesApart() async throws {
        let world = world()
        let kept = Mutex<String?>(nil)
        let session = session
        let resource = Resource<String>("greeting") {
            "Hello \(session.identity ?? "")"
        } read: {
            kept.withLock { $0 }
        } store: { value in
            kept.withLock { $0 = value }
        }
        #expect(try await world.loader.load(resource, .cacheFirst()).value == "Hello ann")
        session.signIn("ben")
        #expect(await code { _ = try await world.loader.load(resource, .cacheOnly) } == .notCached)
        #expect(try await world.loader.load(resource, .cacheFirst()).value == "Hello ben")
    }
}

/// A ledger that forgets nothing once the places are gone, as if the process were killed then.
private struct InterruptedLedger: FetchLedger {
    let upstream: CollectionFetchLedger
    let storage: StorageClient
    let isInterrupted: Watched<Bool>

    func time(of key: String) async throws(DataSourceError) -> Date? {
        try await upstream.time(of: key)
    }

    func record(_ key: String, at time: Date, tags: Set<String>) async throws(DataSourceError) {
        try await upstream.record(key, at: time, tags: tags)
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        let places = try? await storage.queryDocuments(DocumentQuery("places"))
        if places?.isEmpty == true, isInterrupted.value { throw DataSourceError(.cancelled) }
        try await upstream.invalidate(tags)
    }
}
