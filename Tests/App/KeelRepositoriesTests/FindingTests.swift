import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Searches and queries with a policy", .timeLimit(.minutes(1)))
struct FindingTests {
    private func world(outbox: ((StorageClient) -> Outbox)? = nil) -> PlaceWorld {
        let world = PlaceWorld(outbox: outbox)
        for (id, version) in [("a1", 1), ("a2", 2), ("b1", 3)] { world.service.set(id, version) }
        return world
    }

    private func code(_ body: () async throws -> Void) async -> RepositoryError.Code? {
        await #expect(throws: RepositoryError.self) { try await body() }?.code
    }

    // MARK: Search

    @Test("A search asks the service, caches its results, and keeps their order")
    func searches() async throws {
        let world = world()
        #expect(try await world.places.search("a").map(\.id) == ["a2", "a1"])
        #expect(try await world.places.entity("a1", .cacheOnly).version == 1)
        world.service.goOffline()
        let kept = try await world.places.fetchedSearch("a")
        #expect(kept.value.map(\.id) == ["a2", "a1"])
        #expect(kept.freshness == .stale(age: .zero))
        let reads = world.store.readCount
        let found = try await world.places.fetchedSearch("a", .cacheFirst())
        #expect(found.freshness == .cached(age: .zero))
        #expect(world.store.readCount == reads)
    }

    @Test("Policies apply to a search as to a list")
    func keepsPolicies() async throws {
        let world = world()
        let places = world.places
        #expect(await code { _ = try await places.search("a", .cacheOnly) } == .notCached)
        #expect(try await places.search("a", .cacheFirst()).count == 2)
        let calls = world.service.callCount
        _ = try await places.search("a", .cacheFirst(maxAge: .seconds(60)))
        #expect(world.service.callCount == calls)
        // Other words are another query.
        #expect(try await places.search("b", .cacheFirst()).map(\.id) == ["b1"])
        world.wall.advance(by: 61)
        _ = try await places.search("a", .cacheFirst(maxAge: .seconds(60)))
        #expect(world.service.callCount == calls + 2)
        try await places.invalidate()
        _ = try await places.search("a", .cacheFirst())
        #expect(world.service.callCount == calls + 3)
        world.service.goOffline()
        #expect(await code { _ = try await places.search("a", .networkOnly) } == .unreachable)
        #expect(await code { _ = try await places.search("c") } == .unreachable)
        #expect(try await places.search("a", .cacheThenNetwork).count == 2)
    }

    @Test("A cached answer shows current local values and no deleted ones")
    func showsCurrent() async throws {
        let world = world(outbox: { Outbox($0) })
        let places = world.places
        _ = try await places.search("a")
        world.service.goOffline()
        try await places.saveOffline(Place(id: "a1", version: 10))
        try await places.deleteOffline("a2")
        #expect(try await places.search("a", .cacheOnly).map(\.version) == [10])
        // Changes that the service has not received are shown even in a fresh answer.
        world.service.goOffline(false)
        #expect(try await places.search("a", .networkOnly).map(\.version) == [10])
        #expect(try await places.all(.cacheOnly).map(\.version) == [10])
    }

    @Test("An undefined search is refused by name, and a lossy one reports dropped elements")
    func reportsSearches() async throws {
        let places = EntityRepository<Place>(
            "places",
            remote: RemoteEntities(),
            local: InMemoryDataSource<PlaceDTO>(),
            loader: ResourceLoader(),
            id: { $0.id }
        )
        #expect(await code { _ = try await places.search("a") } == .unsupported)

        let service = try TestService()
        service.transport.on(.get, "/v1/restaurants/search") { _ in
            .json(
                #"[{"id":7},{"id":"00000000-0000-4000-8000-000000000001","name":"One","cuisine":"thai","opened":"2020-01-02T10:00:00Z"}]"#
            )
        }
        let dropped = Mutex<[Int]>([])
        let restaurants = EntityRepository<Restaurant>(
            "restaurants",
            remote: RemoteEntities<RestaurantDTO>(service.remote)
                .search { SearchRestaurants(words: $0) },
            local: InMemoryDataSource<RestaurantDTO>(id: { $0.id ?? "" }),
            loader: ResourceLoader(),
            onDropped: { elements in dropped.withLock { $0 += elements.map(\.index) } },
            id: { $0.id ?? "" }
        )
        #expect(try await restaurants.search("one").map(\.name) == ["One"])
        #expect(dropped.withLock { $0 } == [0])
    }

    // MARK: Conditions

    @Test("A query is answered by the store once all entities are cached")
    func queries() async throws {
        let world = world()
        let places = world.places
        let young = #Predicate<PlaceDTO> { $0.version >= 2 }
        #expect(await code { _ = try await places.query(where: young, .cacheOnly) } == .notCached)
        #expect(try await places.query(where: young).map(\.id) == ["a2", "b1"])
        #expect(world.service.callCount == 1)
        world.service.goOffline()
        let found = try await places.fetchedQuery(where: young, .cacheFirst(maxAge: .seconds(60)))
        #expect(found.freshness == .cached(age: .zero))
        world.wall.advance(by: 61)
        let old = try await places.fetchedQuery(where: young, .cacheFirst(maxAge: .seconds(60)))
        #expect(old.freshness == .stale(age: .seconds(61)))
        #expect(
            await code { _ = try await places.query(where: young, .networkOnly) } == .unreachable
        )
        world.service.goOffline(false)
        world.service.set("c1", 4)
        #expect(try await places.query(where: young, .networkFirst).count == 3)
        try await places.save(Place(id: "a1", version: 5))
        #expect(try await places.query(where: young, .cacheOnly).count == 4)
        // An empty answer is an answer.
        let none = #Predicate<PlaceDTO> { $0.version > 100 }
        #expect(try await places.query(where: none, .cacheOnly).isEmpty)
    }

    @Test("A predicate on another type is refused, and the error names the expected type")
    func refusesOtherTypes() async throws {
        let world = world()
        let error = await expectError(RepositoryError.self, .unsupported) {
            try await world.places.query(where: #Predicate<Place> { $0.version > 1 })
        }
        #expect(error?.dataSourceError?.message.contains("PlaceDTO") == true)
    }
}
