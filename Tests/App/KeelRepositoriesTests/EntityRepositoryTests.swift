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

@Suite("Entity repositories", .timeLimit(.minutes(1)))
struct EntityRepositoryTests {
    private let service: TestService
    private let storage = StorageClient(InMemoryStorageAdapter())
    private let outbox: Outbox
    private let restaurants: EntityRepository<Restaurant>

    init() throws {
        service = try TestService()
        service.serve()
        service.set((1...3).map { .sample($0) })
        outbox = Outbox(storage)
        restaurants = Self.make(service, storage, outbox)
    }

    private static func make(
        _ service: TestService,
        _ storage: StorageClient,
        _ outbox: Outbox,
        onDropped: (@Sendable ([DroppedElement]) -> Void)? = nil
    ) -> EntityRepository<Restaurant> {
        EntityRepository<Restaurant>(
            "restaurants",
            remote: remote(service),
            local: CollectionDataSource(
                storage.collection("restaurants", as: RestaurantDTO.self),
                id: { $0.id ?? "" }
            ),
            loader: ResourceLoader(),
            offline: OfflineWrites(outbox) { change in
                switch change {
                case .save(let dto): try OutboxRequest(PutRestaurant(dto: dto))
                case .delete(let id): try OutboxRequest(DeleteRestaurant(id: id))
                }
            },
            onDropped: onDropped,
            id: { $0.id ?? "" }
        )
    }

    private static func remote(_ service: TestService) -> RemoteEntities<RestaurantDTO> {
        RemoteEntities<RestaurantDTO>(service.remote)
            .find { GetRestaurant(id: $0) }
            .all { GetRestaurants() }
            .save { PutRestaurant(dto: $0) }
            .delete { DeleteRestaurant(id: $0) }
    }

    private func restaurant(_ number: Int, name: String) throws -> Restaurant {
        try RestaurantDTO.sample(number, name: name).toDomain()
    }

    private func names(_ policy: FetchPolicy = .cacheOnly) async throws -> [String] {
        try await restaurants.all(policy).map(\.name)
    }

    @Test("Entities are loaded, cached, and found offline")
    func loadsAndKeeps() async throws {
        #expect(try await names(.cacheFirst()).count == 3)
        service.goOffline()
        #expect(try await names().count == 3)
        #expect(try await restaurants.entity(RestaurantDTO.uuid(2)).name == "Restaurant 2")
        #expect(try await restaurants.fetchedAll(.networkFirst).freshness.isStale)
    }

    @Test("An empty list from the service is cached like any other")
    func keepsEmptyLists() async throws {
        await expectError(RepositoryError.self, .notCached) { try await names() }
        service.set([])
        #expect(try await names(.cacheFirst()).isEmpty)
        service.goOffline()
        #expect(try await names().isEmpty)
        #expect(try await names(.cacheFirst()).isEmpty)
    }

    @Test("A cached list stays cached when its last element is deleted")
    func keepsEmptiedLists() async throws {
        service.set([.sample(1)])
        _ = try await restaurants.all()
        try await restaurants.delete(RestaurantDTO.uuid(1))
        #expect(try await names().isEmpty)
        service.goOffline()
        let fetched = try await restaurants.fetchedAll()
        #expect(fetched.value.isEmpty && fetched.freshness.isStale)
    }

    @Test("A rejected change no longer hides the service's state")
    func refreshesRefused() async throws {
        _ = try await restaurants.all()
        try await restaurants.saveOffline(try restaurant(1, name: "Refused"))
        #expect(try await names(.networkOnly).first == "Refused")
        try await outbox.flush(sending: RefusingSender())
        #expect(try await outbox.rejected().count == 1)
        #expect(try await names(.networkOnly).first == "Restaurant 1")
        #expect(try await names().first == "Restaurant 1")
    }

    @Test("A list from the service replaces the cached list")
    func replaces() async throws {
        _ = try await restaurants.all()
        service.set([.sample(2, name: "Two"), .sample(4)])
        #expect(try await names(.networkOnly) == ["Two", "Restaurant 4"])
        #expect(try await names() == ["Two", "Restaurant 4"])
    }

    @Test("Saving and deleting reach the service first, then the device, then observers")
    func writesThrough() async throws {
        var states = restaurants.observeAll().makeAsyncIterator()
        while let state = await states.next() {
            if case .loaded(_, .current) = state { break }
        }
        try await restaurants.save(try restaurant(1, name: "One"))
        #expect(service.stored[RestaurantDTO.uuid(1)]?.name == "One")
        _ = await states.next()
        #expect(await states.next()?.value?.first?.name == "One")
        try await restaurants.delete(RestaurantDTO.uuid(1))
        #expect(service.stored.count == 2)
        #expect(try await names() == ["Restaurant 2", "Restaurant 3"])
        service.goOffline()
        await expectError(RepositoryError.self, .unreachable) {
            try await restaurants.save(try restaurant(2, name: "Two"))
        }
        #expect(try await names() == ["Restaurant 2", "Restaurant 3"])
    }

    @Test("Offline changes are visible at once and are sent to the service later")
    func writesOffline() async throws {
        _ = try await restaurants.all()
        service.goOffline()
        let receipt = try await restaurants.saveOffline(try restaurant(1, name: "One"))
        try await restaurants.saveOffline(try restaurant(9, name: "Nine"))
        try await restaurants.deleteOffline(RestaurantDTO.uuid(2))
        #expect(receipt.stage == .local)
        #expect(try await names() == ["One", "Restaurant 3", "Nine"])
        let sender = HTTPOutboxSender(service.client)
        #expect(try await outbox.flush(sending: sender) == false)

        service.goOffline(false)
        // The service has not received the changes yet; its answer does not undo them here.
        #expect(Set(try await names(.networkOnly)) == ["One", "Restaurant 3", "Nine"])
        #expect(try await names() == ["One", "Restaurant 3", "Nine"])
        #expect(try await restaurants.entity(RestaurantDTO.uuid(9), .networkOnly).name == "Nine")
        await expectError(RepositoryError.self, .notFound) {
            try await restaurants.entity(RestaurantDTO.uuid(2), .networkOnly)
        }

        for entry in try await outbox.pending() { try await outbox.retry(entry.id) }
        #expect(try await outbox.flush(sending: sender))
        try await receipt.server()
        #expect(
            service.stored.values.compactMap(\.name).sorted() == ["Nine", "One", "Restaurant 3"]
        )
        #expect(Set(service.idempotencyKeys).count == 3)
        #expect(try await names(.networkOnly) == ["One", "Restaurant 3", "Nine"])
    }

    @Test("A change is not sent before an earlier one that waits in the outbox")
    func keepsOrder() async throws {
        try await restaurants.saveOffline(try restaurant(1, name: "First"))
        await expectError(RepositoryError.self, .conflict) {
            try await restaurants.save(try restaurant(1, name: "Second"))
        }
        await expectError(RepositoryError.self, .conflict) {
            try await restaurants.delete(RestaurantDTO.uuid(1))
        }
        try await restaurants.save(try restaurant(2, name: "Two"))
        #expect(try await outbox.flush(sending: HTTPOutboxSender(service.client)))
        try await restaurants.save(try restaurant(1, name: "Second"))
        #expect(service.stored[RestaurantDTO.uuid(1)]?.name == "Second")
    }

    @Test(
        "A change made offline while an earlier one is being sent stays on the device",
        arguments: [true, false]
    )
    func keepsLaterChanges(isDeletion: Bool) async throws {
        let gate = Gate()
        let slow = try TestService()
        slow.transport.enqueue(
            ScriptedHTTPTransport.Answer { call async throws(TransportError) in
                _ = try? await gate.pass()
                let head = HTTPResponse(
                    status: isDeletion ? .noContent : .ok,
                    headerFields: [.contentType: "application/json"]
                )
                return HTTPReply(head: head, body: .chunks([call.body]))
            }
        )
        let restaurants = Self.make(slow, storage, outbox)
        let id = RestaurantDTO.uuid(1)
        let first = try restaurant(1, name: "First")
        let sending = Task {
            if isDeletion {
                try await restaurants.delete(id)
            } else {
                _ = try await restaurants.save(first)
            }
        }
        try await waitUntil { gate.begunCount > 0 }
        try await restaurants.saveOffline(try restaurant(1, name: "Second"))
        gate.open()
        try await sending.value
        #expect(try await restaurants.entity(id, .cacheOnly).name == "Second")
        #expect(try await outbox.pending().count == 1)
    }

    @Test(
        "After a call that the service may have carried out, the next read asks the service",
        arguments: [true, false],
        [true, false]
    )
    func asksAfterLostReplies(isDeletion: Bool, isCancelled: Bool) async throws {
        let service = try TestService()
        let repository = EntityRepository<Restaurant>(
            "restaurants",
            remote: Self.remote(service),
            local: InMemoryDataSource<RestaurantDTO>(id: { $0.id ?? "" }),
            loader: ResourceLoader(ledger: CancelableLedger()),
            id: { $0.id ?? "" }
        )
        let id = RestaurantDTO.uuid(1)
        service.transport.enqueue(.value(RestaurantDTO.sample(1)))
        #expect(try await repository.entity(id).name == "Restaurant 1")
        service.transport.enqueue(isCancelled ? .stall : .failure(TransportError(.connectionLost)))
        let changed = try restaurant(1, name: "One")
        let writing = Task {
            if isDeletion {
                try await repository.delete(id)
            } else {
                _ = try await repository.save(changed)
            }
        }
        try await waitUntil { service.transport.calls.count == 2 }
        if isCancelled { writing.cancel() }
        let error = await #expect(throws: RepositoryError.self) { try await writing.value }
        let code: RepositoryError.Code = isCancelled ? .cancelled : .unreachable
        #expect(error?.code == code)
        service.transport.enqueue(.value(RestaurantDTO.sample(1, name: "At the service")))
        #expect(try await repository.entity(id).name == "At the service")
    }

    @Test("A call that did not reach the service leaves the copies current")
    func trustsCopiesAfterUnsentCalls() async throws {
        let id = RestaurantDTO.uuid(1)
        _ = try await restaurants.entity(id)
        service.goOffline()
        await #expect(throws: RepositoryError.self) { try await restaurants.delete(id) }
        #expect(try await restaurants.fetchedEntity(id).freshness.isStale == false)
    }

    @Test("A change and its outbox request are committed together or not at all")
    func commitsTogether() async throws {
        let commits = Counter()
        let adapter = InMemoryStorageAdapter()
        let failing = adapter.failing { call in
            guard case .commit(let batches) = call else { return nil }
            commits.next()
            return batches.flatMap(\.writes).count > 1 ? .fail(.diskFull) : nil
        }
        let storage = StorageClient(failing)
        let repository = Self.make(service, storage, Outbox(storage))
        await expectError(RepositoryError.self, .storageFull) {
            try await repository.saveOffline(try restaurant(1, name: "One"))
        }
        #expect(commits.count == 1)
        let plain = StorageClient(adapter)
        #expect(try await plain.queryDocuments(DocumentQuery("restaurants")).isEmpty)
        #expect(try await Outbox(plain).pending().isEmpty)
    }

    @Test(
        "A source of another kind is changed after the request is in the outbox, even if the task is canceled"
    )
    func usesOtherSources() async throws {
        let local = GatedSource()
        let repository = EntityRepository<Restaurant>(
            "restaurants",
            remote: Self.remote(service),
            local: local,
            loader: ResourceLoader(),
            offline: OfflineWrites(outbox) { change in
                guard case .save(let dto) = change else { throw DataSourceError(.unsupported) }
                return try OutboxRequest(PutRestaurant(dto: dto))
            },
            id: { $0.id ?? "" }
        )
        let seven = try restaurant(7, name: "Seven")
        let saving = Task { try await repository.saveOffline(seven) }
        try await waitUntil { local.gate.begunCount == 1 }
        #expect(
            try await outbox.pending().map(\.write.key) == ["restaurants/\(RestaurantDTO.uuid(7))"]
        )
        saving.cancel()
        local.gate.open()
        _ = try await saving.value
        #expect(try await repository.all(.cacheOnly).map(\.name) == ["Seven"])
        await expectError(RepositoryError.self, .unsupported) {
            try await repository.deleteOffline(RestaurantDTO.uuid(7))
        }
    }

    @Test("A fetch after an invalidation shares no exchange of the client that began before it")
    func sharesNoEarlierExchange() async throws {
        let clock = TestClock()
        let answers = ["Old", "New"].map { name in
            ScriptedHTTPTransport.Answer.value(RestaurantDTO.sample(1, name: name))
        }
        let transport = ScriptedHTTPTransport(
            [answers[0].delayed(by: .seconds(1), on: clock)],
            then: answers[1]
        )
        let layer = CoalescingMiddleware()
        var configuration = try NetworkClient.Configuration("https://api.example.com/v1")
        configuration.middleware = [layer]
        let client = NetworkClient(configuration, transport: transport)
        let repository = EntityRepository<Restaurant>(
            "restaurants",
            remote: RemoteEntities<RestaurantDTO>(RemoteDataSource(client))
                .find { GetRestaurant(id: $0) },
            local: InMemoryDataSource<RestaurantDTO>(id: { $0.id ?? "" }),
            loader: ResourceLoader(),
            id: { $0.id ?? "" }
        )
        let id = RestaurantDTO.uuid(1)
        let first = Task { try await repository.entity(id, .networkOnly).name }
        await clock.waitForSleepers()
        try await repository.invalidate()
        let second = Task { try await repository.entity(id, .networkOnly).name }
        try await waitUntil { transport.calls.count == 2 || layer.waiterCount == 2 }
        await clock.advance(by: .seconds(1))
        #expect(try await second.value == "New")
        // The first one asks again, because its response may be older than the invalidation.
        #expect(try await first.value == "New")
        #expect(try await repository.entity(id, .cacheOnly).name == "New")
    }

    @Test("An unmappable element is an error of the list, or is reported and dropped")
    func reportsDropped() async throws {
        var bad = RestaurantDTO.sample(5)
        bad.opened = "soon"
        service.set([.sample(1), bad])
        let error = await expectError(RepositoryError.self, .unexpectedResponse) {
            try await restaurants.all(.networkOnly)
        }
        #expect(error?.dataSourceError?.mappingError?.field == "[1].opened")
        let dropped = Mutex<[DroppedElement]>([])
        let lossy = Self.make(service, storage, outbox) { elements in
            dropped.withLock { $0 += elements }
        }
        #expect(try await lossy.all(.networkOnly).count == 1)
        #expect(dropped.withLock { $0 }.map(\.index) == [1])
    }

    @Test("An undefined operation is refused by name")
    func refusesUndescribed() async throws {
        let repository = EntityRepository<Restaurant>(
            "restaurants",
            remote: RemoteEntities(),
            local: InMemoryDataSource<RestaurantDTO>(id: { $0.id ?? "" }),
            loader: ResourceLoader(),
            id: { $0.id ?? "" }
        )
        await expectError(RepositoryError.self, .unsupported) { try await repository.all() }
        await expectError(RepositoryError.self, .unsupported) {
            try await repository.deleteOffline("1")
        }
    }

    @Test("Prefetched entities are available offline")
    func prefetches() async throws {
        let prefetcher = restaurants.prefetcher()
        prefetcher.prefetch((1...3).map { RestaurantDTO.uuid($0) })
        try await waitUntil { prefetcher.count == 0 }
        service.goOffline()
        #expect(
            try await restaurants.entity(RestaurantDTO.uuid(3), .cacheOnly).name == "Restaurant 3"
        )
    }
}

/// A source that saves behind a gate and, like a database, not in a canceled task.
private final class GatedSource: LocalDataSource {
    let gate = Gate()
    private let base = InMemoryDataSource<RestaurantDTO>(id: { $0.id ?? "" })

    func find(_ id: String) async throws(DataSourceError) -> RestaurantDTO? {
        try await base.find(id)
    }

    func findAll() async throws(DataSourceError) -> [RestaurantDTO] { try await base.findAll() }

    func save(_ elements: [RestaurantDTO]) async throws(DataSourceError) {
        _ = try await DataSourceError.local { try await gate.pass() }
        try await base.save(elements)
    }

    func delete(_ ids: [String]) async throws(DataSourceError) { try await base.delete(ids) }

    func removeAll() async throws(DataSourceError) { try await base.removeAll() }
}

/// A service that rejects everything.
private struct RefusingSender: OutboxSender {
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict { .rejected(reason: "no") }
}
