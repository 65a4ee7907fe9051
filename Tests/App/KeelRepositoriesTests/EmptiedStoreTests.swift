import Foundation
import KeelRepositories
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("A repository whose store is emptied during a call", .timeLimit(.minutes(1)))
struct EmptiedStoreTests {
    private static func process(on store: WatchedStore, of user: String) -> PlaceWorld {
        PlaceWorld(
            store: store,
            memory: nil,
            ledger: { CollectionFetchLedger($0) },
            identity: { user }
        )
    }

    @Test("Reads at the same time all notice that another process has emptied the store")
    func takesBackTogether() async throws {
        let (gate, callsLeft) = (Gate(), Watched<Int?>(nil))
        let store = WatchedStore()
        let ann = PlaceWorld(
            store: store,
            memory: nil,
            ledger: { CollectionFetchLedger($0) },
            identity: {
                callsLeft.change { $0 = $0.map { $0 - 1 } }
                if callsLeft.value == 0 { _ = try? await gate.pass() }
                return "ann"
            }
        )
        let ben = Self.process(on: store, of: "ben")
        ann.service.set("1", 1)
        _ = try await ann.places.all()
        _ = try await ben.places.all()
        let hold = Hold()
        async let second = Hold.$current.withValue(hold) { await failure(in: ann) }
        try await waitUntil { hold.gate.begunCount == 1 }
        // With the second call of the first read, the user takes the store back.
        callsLeft.change { $0 = 2 }
        async let first = failure(in: ann)
        try await waitUntil { gate.begunCount == 1 }
        hold.gate.open()
        #expect(await second == .notCached)
        gate.open()
        #expect(await first == .notCached)
    }

    private func failure(in world: PlaceWorld) async -> RepositoryError.Code? {
        do throws(RepositoryError) {
            _ = try await world.places.all(.cacheOnly)
            return nil
        } catch { return error.code }
    }

    @Test(
        "A query finds its user's entities if another process empties the store meanwhile",
        arguments: 1...4
    )
    func queries(read: Int) async throws {
        let (store, readsLeft) = (WatchedStore(), Watched<Int?>(nil))
        let ben = Self.process(on: store, of: "ben")
        let meddled = MeddledStorageAdapter(
            store,
            afterReads: { _ in
                readsLeft.change { $0 = $0.map { $0 - 1 } }
                guard readsLeft.value == 0 else { return }
                _ = try await ben.places.all(.networkOnly)
            }
        )
        let ann = Self.process(on: WatchedStore(meddled), of: "ann")
        ann.service.set("1", 1)
        ben.service.set("1", 7)
        _ = try await ann.places.all()
        readsLeft.change { $0 = read }
        let predicate = #Predicate<PlaceDTO> { $0.version > 0 }
        #expect(try await ann.places.query(where: predicate).map(\.version) == [1])
    }

    @Test("A fetch during the removal of all entities asks the service again")
    func fetchesDuringRemoval() async throws {
        let world = PlaceWorld(ledger: { CollectionFetchLedger($0) }, identity: { "ann" })
        world.service.set("1", 1)
        _ = try await world.places.all()
        let gate = Gate()
        world.service.gate.withLock { $0 = gate }
        async let early = world.places.all(.networkOnly)
        try await waitUntil { gate.begunCount == 1 }
        world.service.gate.withLock { $0 = nil }
        try await world.places.removeAll()
        world.service.set("1", 2)
        gate.open()
        #expect(try await early.map(\.version) == [2])
        #expect(try await world.places.all(.cacheOnly).map(\.version) == [2])
    }
}
