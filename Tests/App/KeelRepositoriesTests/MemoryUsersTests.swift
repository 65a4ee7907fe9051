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
        outbox: ((StorageClient) -> Outbox)? = nil
    ) -> PlaceWorld {
        let session = session
        return PlaceWorld(
            store: store,
            memory: memory,
            ledger: { CollectionFetchLedger($0) },
            identity: { session.identity },
            outbox: outbox
        )
    }

    private func code(
        _ body: () async throws -> Void
    ) async -> RepositoryError.Code? {
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
            #expect(
                await code { _ = try await places.query(where: predicate, policy) } == expected
            )
        }
        world.service.goOffline(false)
        world.service.set("1", 7)
        #expect(try await places.all().map(\.version) == [7])
        session.signIn("ann")
        world.service.goOffline()
        #expect(await code { _ = try await places.all() } == .unreachable)
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
        #expect(try await Outbox(world.storage).pending().count == 2)
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
