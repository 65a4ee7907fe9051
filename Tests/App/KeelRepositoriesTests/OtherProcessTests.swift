import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Fetches and the changes of another process", .timeLimit(.minutes(1)))
struct OtherProcessTests {
    enum Call: CaseIterable { case entity, all, search }
    enum Change: CaseIterable { case addition, replacement, deletion }

    private let app: PlaceWorld
    /// A process with its own loader and outbox on the same store, such as an extension of the app.
    private let widget: PlaceWorld

    init() {
        let store = WatchedStore()
        app = Self.process(on: store)
        widget = Self.process(on: store)
    }

    private static func process(on store: WatchedStore) -> PlaceWorld {
        PlaceWorld(
            store: store,
            memory: nil,
            ledger: { CollectionFetchLedger($0) },
            outbox: { Outbox($0) }
        )
    }

    static func version(
        by call: Call,
        in places: EntityRepository<Place>,
        _ policy: FetchPolicy = .networkOnly
    ) async throws -> Int? {
        switch call {
        case .entity: try await places.entity("1", policy).version
        case .all: try await places.all(policy).first?.version
        case .search: try await places.search("1", policy).first?.version
        }
    }

    /// Returns the version that a call finds if `body` runs after the service has decided its response, and before the
    /// response arrives.
    static func version(
        by call: Call,
        in world: PlaceWorld,
        meanwhile body: () async throws -> Void
    ) async throws -> Int? {
        let gate = Gate()
        world.service.gate.withLock { $0 = gate }
        async let early = version(by: call, in: world.places)
        try await waitUntil { gate.begunCount == 1 }
        world.service.gate.withLock { $0 = nil }
        try await body()
        gate.open()
        return try await early
    }

    /// Sends what a process has put into its outbox to a service that accepts it.
    private static func send(from world: PlaceWorld) async throws {
        #expect(try await Outbox(world.storage).flush(sending: AcceptingSender()))
    }

    @Test(
        "A response from before a change by another process, sent meanwhile, is not kept",
        arguments: Call.allCases,
        Change.allCases
    )
    func ignoresOldResponses(call: Call, change: Change) async throws {
        if change != .addition { app.service.set("1", 1) }
        _ = try await app.places.all()
        let version = try? await Self.version(by: call, in: app) {
            if change == .deletion {
                try await widget.places.deleteOffline("1")
                app.service.remove("1")
            } else {
                try await widget.places.saveOffline(Place(id: "1", version: 2))
                app.service.set("1", 2)
            }
            try await Self.send(from: widget)
        }
        let newest: Int? = change == .deletion ? nil : 2
        #expect(version == newest)
        let kept = try await app.storage.findDocument("places/1", as: PlaceDTO.self)
        #expect(kept?.version == newest)
    }

    @Test(
        "A response is not kept if another process changes and loads the entity just before",
        arguments: Call.allCases
    )
    func noticesOtherFetches(call: Call) async throws {
        let (widget, isArmed) = (widget, Watched(false))
        let meddled = MeddledStorageAdapter(
            widget.store,
            beforeCommits: { _ in
                guard isArmed.value else { return }
                isArmed.change { $0 = false }
                try await widget.places.saveOffline(Place(id: "1", version: 2))
                try await Self.send(from: widget)
                // The home is marked again, as before the fetch of the app, but at a later time.
                _ = try await widget.places.entity("1", .networkOnly)
            }
        )
        let app = Self.process(on: WatchedStore(meddled))
        app.service.set("1", 1)
        widget.service.set("1", 2)
        widget.wall.advance(by: 1)
        _ = try await app.places.all()
        let version = try await Self.version(by: call, in: app) {
            app.service.set("1", 2)
            // The next commit stores the response.
            isArmed.change { $0 = true }
        }
        #expect(!isArmed.value)
        #expect(version == 2)
        #expect(try await app.places.entity("1", .cacheOnly).version == 2)
    }

    @Test(
        "A list does not remove an entity that another process adds while the list is loaded",
        arguments: 1...6
    )
    func keepsAddedEntities(read: Int) async throws {
        let (widget, readsLeft) = (widget, Watched<Int?>(nil))
        let meddled = MeddledStorageAdapter(
            widget.store,
            afterReads: { _ in
                readsLeft.change { $0 = $0.map { $0 - 1 } }
                guard readsLeft.value == 0 else { return }
                try await widget.places.saveOffline(Place(id: "2", version: 1))
            }
        )
        let app = Self.process(on: WatchedStore(meddled))
        app.service.set("1", 1)
        _ = try await app.places.all()
        readsLeft.change { $0 = read }
        _ = try await app.places.all(.networkOnly)
        #expect(try await widget.places.entity("2", .cacheOnly).version == 1)
    }

    @Test(
        "The first read after another process has sent a change loads it, even if its copy was removed",
        arguments: Call.allCases
    )
    func loadsSentChanges(call: Call) async throws {
        let user = Watched("ann")
        let world = PlaceWorld(
            ledger: { CollectionFetchLedger($0) },
            identity: { user.value },
            outbox: { Outbox($0) }
        )
        let places = world.places
        world.service.set("1", 1)
        try await places.saveOffline(Place(id: "1", version: 2))
        user.change { $0 = "ben" }
        _ = try await places.all()
        // Nothing of Ben's is unsent.
        let calls = world.service.callCount
        _ = try await places.all()
        #expect(world.service.callCount == calls)
        user.change { $0 = "ann" }
        // The second load finds the service's version on the device.
        for _ in 1...2 {
            #expect(try await Self.version(by: call, in: places, .cacheFirst()) == 1)
        }
        try await Self.send(from: world)
        world.service.set("1", 2)
        #expect(try await Self.version(by: call, in: places, .cacheFirst()) == 2)
    }

    @Test("A change is loaded once it was sent, even if its process ended before the copy changed")
    func loadsChangesOfEndedProcesses() async throws {
        let (gate, isEnding) = (Gate(), Watched(false))
        let device = MeddledStorageAdapter(
            InMemoryStorageAdapter(),
            beforeCommits: { _ in
                guard isEnding.value else { return }
                try await gate.pass()
            }
        )
        let collection = StorageClient(device).collection("places", as: PlaceDTO.self)
        let local = CollectionDataSource(collection)
        let (first, later) = (Self.places(of: app, in: local), Self.places(of: widget, in: local))
        app.service.set("1", 1)
        _ = try await first.entity("1")
        isEnding.change { $0 = true }
        async let change = first.saveOffline(Place(id: "1", version: 2))
        try await waitUntil { gate.begunCount == 1 }
        isEnding.change { $0 = false }
        try await Self.send(from: widget)
        widget.service.set("1", 2)
        #expect(try await later.entity("1").version == 2)
        gate.open()
        _ = try await change
    }

    /// Makes a repository whose entities are outside of the outbox's store.
    private static func places(
        of world: PlaceWorld,
        in local: some LocalDataSource<PlaceDTO>
    ) -> EntityRepository<Place> {
        EntityRepository<Place>(
            "places",
            remote: world.service.remote,
            local: local,
            loader: world.loader,
            offline: OfflineWrites(Outbox(world.storage)) { change in
                guard case .save(let dto) = change else { throw DataSourceError(.unsupported) }
                return try OutboxRequest(ChangePlace(id: dto.id))
            },
            id: { $0.id }
        )
    }
}

/// A service that accepts everything.
private struct AcceptingSender: OutboxSender {
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict { .accepted() }
}
