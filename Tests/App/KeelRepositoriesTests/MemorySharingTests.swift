import Foundation
import KeelRepositories
import KeelStorage
import KeelTestKit
import Testing

#if SQLite
import KeelStorageSQLite
#endif

@Suite("Repository memory and other writers", .timeLimit(.minutes(2)))
struct MemorySharingTests {
    @Test("Writes by another repository on the same store are visible")
    func seesRepositories() async throws {
        let one = PlaceWorld()
        let other = one.another()
        for world in [one, other] { world.service.set("1", 1) }
        #expect(try await one.places.all().map(\.version) == [1])
        #expect(try await other.places.entity("1", .cacheOnly).version == 1)
        try await other.places.save(Place(id: "1", version: 2))
        try await waitUntil { try await one.places.all(.cacheOnly).map(\.version) == [2] }
        #expect(try await one.places.entity("1", .cacheOnly).version == 2)
        try await one.places.save(Place(id: "1", version: 3))
        try await waitUntil { try await other.places.entity("1", .cacheOnly).version == 3 }
    }

    @Test("Changes outside the repository are visible, and only affected entries are read again")
    func seesStrangers() async throws {
        let world = PlaceWorld()
        for id in ["1", "2"] { try await world.put(id, 1) }
        let places = world.places
        for id in ["1", "2"] { _ = try await places.entity(id, .cacheOnly) }
        try await world.settle(try await world.put("1", 2))
        let reads = world.store.readCount
        #expect(try await places.entity("2", .cacheOnly).version == 1)
        #expect(try await places.entity("1", .cacheOnly).version == 2)
        #expect(world.store.readCount == reads + 1)
        let stranger = StorageClient(world.store)
        let receipt = try await stranger.deleteDocument("places/1")
        try await world.settle(receipt.position)
        await #expect(throws: RepositoryError.self) { try await places.entity("1", .cacheOnly) }
    }

    @Test("The repository's own writes cause no further reads")
    func ignoresItsEcho() async throws {
        let world = PlaceWorld()
        for id in ["1", "2"] { world.service.set(id, 1) }
        _ = try await world.places.all()
        // After the changes that `all()` has cached.
        let position = try await world.put("9", 1)
        try await world.settle(position)
        _ = try await world.places.all(.cacheOnly)
        let reads = world.store.readCount
        _ = try await world.places.all()
        #expect(world.store.readCount == reads)
    }

    @Test("An invalidation in a shared ledger makes the other repository ask the service")
    func seesInvalidations() async throws {
        let one = PlaceWorld(ledger: { CollectionFetchLedger($0) })
        one.service.set("1", 1)
        _ = try await one.places.all()
        let calls = one.service.callCount
        _ = try await one.places.all()
        #expect(one.service.callCount == calls)
        let wall = one.wall
        let other = ResourceLoader(
            ledger: CollectionFetchLedger(StorageClient(one.store)),
            now: { wall.now }
        )
        try await other.invalidate(["places"])
        one.service.set("1", 2)
        try await waitUntil { try await one.places.all().map(\.version) == [2] }
    }

    @Test("A resource that follows a collection reflects its changes")
    func followsResources() async throws {
        let world = PlaceWorld()
        try await world.put("1", 1)
        let collection = world.storage.collection("places", as: PlaceDTO.self)
        let total = Resource<Int>("total") {
            0
        } read: {
            try await DataSourceError.local {
                try await collection.findAll().reduce(0) { $0 + $1.version }
            }
        } store: { _ in
        }.following(collection)
        let reads = world.store.readCount
        for _ in 0..<2 { #expect(try await world.loader.load(total, .cacheOnly).value == 1) }
        #expect(world.store.readCount == reads + 1)
        try await world.settle(try await world.put("2", 5))
        #expect(try await world.loader.load(total, .cacheOnly).value == 6)
        let doubled = total.map { $0 * 2 }
        #expect(try await world.loader.load(doubled, .cacheOnly).value == 12)
    }

    @Test("A store without a change log is read each time")
    func asksWithoutLog() async throws {
        let world = PlaceWorld(store: WatchedStore(without: .changeLog))
        try await world.put("1", 1)
        #expect(try await world.places.entity("1", .cacheOnly).version == 1)
        try await world.put("1", 2)
        #expect(try await world.places.entity("1", .cacheOnly).version == 2)
        #expect(world.memory?.count == 0)
    }

    @Test("The store is read while changes cannot be followed, and memory is used again afterwards")
    func outlivesLostLogs() async throws {
        let world = PlaceWorld()
        try await world.put("1", 1)
        _ = try await world.places.entity("1", .cacheOnly)
        world.store.failChanges(.permissionDenied)
        // The next change ends the observation for good, as a refusal does.
        try await world.put("1", 2)
        try await waitUntil { try await world.places.entity("1", .cacheOnly).version == 2 }
        try await world.put("1", 3)
        try await waitUntil { try await world.places.entity("1", .cacheOnly).version == 3 }
        world.store.failChanges(nil)
        try await world.put("1", 4)
        try await waitUntil {
            let reads = world.store.readCount
            let version = try await world.places.entity("1", .cacheOnly).version
            return version == 4 && world.store.readCount == reads
        }
    }

    @Test("During an outage of the change log, the store is read, and memory only if that fails")
    func readsStoreDuringOutages() async throws {
        let world = PlaceWorld()
        try await world.put("1", 1)
        _ = try await world.places.entity("1", .cacheOnly)
        world.store.failChanges(.unavailable)
        // The next change ends the request that waits for changes.
        try await world.put("1", 2)
        try await waitUntil { try await world.places.entity("1", .cacheOnly).version == 2 }
        try await world.put("1", 3)
        #expect(try await world.places.entity("1", .cacheOnly).version == 3)
        world.store.failReads(.unavailable)
        #expect(try await world.places.entity("1", .cacheOnly).version == 3)
        world.store.failReads(.corrupted)
        await #expect(throws: RepositoryError.self) {
            try await world.places.entity("1", .cacheOnly)
        }
        world.store.failReads(nil)
        world.store.failChanges(nil)
        try await waitUntil {
            let reads = world.store.readCount
            _ = try await world.places.entity("1", .cacheOnly)
            return world.store.readCount == reads
        }
    }

    @Test("A released memory stops listening")
    func endsListening() async throws {
        let world = PlaceWorld(memory: nil)
        try await world.put("1", 1)
        let storage = world.storage
        do {
            let loader = ResourceLoader(memory: ResourceMemory())
            let resource = Resource<Int>("count") {
                0
            } read: {
                1
            } store: { _ in
            }.following(storage.collection("places", as: PlaceDTO.self))
            _ = try await loader.load(resource, .cacheOnly)
            #expect(storage.hub.count == 1)
        }
        try await waitUntil { storage.hub.count == 0 }
    }
}

#if SQLite
extension MemorySharingTests {
    @Test("Writes by another process to the file are visible")
    func seesProcesses() async throws {
        let file = SQLiteStorageLocation.temporary()
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.pollInterval = .milliseconds(1)
        let one = PlaceWorld(
            store: WatchedStore(try SQLiteStorageAdapter(at: file, configuration: configuration)),
            ledger: { CollectionFetchLedger($0) }
        )
        // A separate connection that does not notify this one, as in another process.
        let other = PlaceWorld(
            store: WatchedStore(try SQLiteStorageAdapter(at: file, configuration: configuration)),
            ledger: { CollectionFetchLedger($0) }
        )
        for world in [one, other] { world.service.set("1", 1) }
        #expect(try await one.places.all().map(\.version) == [1])
        #expect(try await other.places.all(.cacheOnly).map(\.version) == [1])
        try await other.places.save(Place(id: "1", version: 2))
        try await waitUntil { try await one.places.all(.cacheOnly).map(\.version) == [2] }
        // From memory again.
        let reads = one.store.readCount
        _ = try await one.places.all(.cacheOnly)
        #expect(one.store.readCount == reads)
    }
}
#endif
