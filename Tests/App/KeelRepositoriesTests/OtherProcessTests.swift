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

    private let app: PlaceWorld
    /// A process with its own loader and outbox on the same store, such as an extension of the app.
    private let widget: PlaceWorld

    init() {
        let store = WatchedStore()
        func process() -> PlaceWorld {
            PlaceWorld(
                store: store,
                memory: nil,
                ledger: { CollectionFetchLedger($0) },
                outbox: { Outbox($0) }
            )
        }
        app = process()
        widget = process()
    }

    private static func version(
        by call: Call,
        in places: EntityRepository<Place>
    ) async throws -> Int? {
        switch call {
        case .entity: try await places.entity("1", .networkOnly).version
        case .all: try await places.all(.networkOnly).first?.version
        case .search: try await places.search("1").first?.version
        }
    }

    /// Sends what the other process has put into its outbox to a service that accepts it.
    private func send() async throws {
        #expect(try await Outbox(widget.storage).flush(sending: AcceptingSender()))
    }

    @Test(
        "A response from before a change by another process, sent meanwhile, is not kept",
        arguments: Call.allCases,
        [true, false]
    )
    func ignoresOldResponses(call: Call, isNew: Bool) async throws {
        let places = app.places
        if !isNew { app.service.set("1", 1) }
        _ = try await places.all()
        let gate = Gate()
        app.service.gate.withLock { $0 = gate }
        async let early = Self.version(by: call, in: places)
        // The response is already decided.
        try await waitUntil { gate.begunCount == 1 }
        app.service.gate.withLock { $0 = nil }
        try await widget.places.saveOffline(Place(id: "1", version: 2))
        try await send()
        app.service.set("1", 2)
        gate.open()
        #expect(try await early == 2)
        #expect(try await places.entity("1", .cacheOnly).version == 2)
    }

    @Test(
        "A response from before a deletion by another process, sent meanwhile, is not kept",
        arguments: Call.allCases
    )
    func ignoresDeletedEntities(call: Call) async throws {
        let places = app.places
        app.service.set("1", 1)
        _ = try await places.all()
        let gate = Gate()
        app.service.gate.withLock { $0 = gate }
        async let early = Self.version(by: call, in: places)
        try await waitUntil { gate.begunCount == 1 }
        app.service.gate.withLock { $0 = nil }
        try await widget.places.deleteOffline("1")
        try await send()
        app.service.remove("1")
        gate.open()
        let version = try? await early
        #expect(version == nil)
        #expect(try await app.storage.findDocument("places/1") == nil)
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
        let app = PlaceWorld(
            store: WatchedStore(meddled),
            memory: nil,
            ledger: { CollectionFetchLedger($0) },
            outbox: { Outbox($0) }
        )
        app.service.set("1", 1)
        _ = try await app.places.all()
        readsLeft.change { $0 = read }
        _ = try await app.places.all(.networkOnly)
        #expect(try await widget.places.entity("2", .cacheOnly).version == 1)
    }
}

/// A service that accepts everything.
private struct AcceptingSender: OutboxSender {
    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict { .accepted() }
}
