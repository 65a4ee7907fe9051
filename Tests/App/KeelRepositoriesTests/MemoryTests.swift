import Foundation
import KeelCache
import KeelRepositories
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Repository memory", .timeLimit(.minutes(2)))
struct MemoryTests {
    private func world(_ memory: ResourceMemory? = ResourceMemory()) -> PlaceWorld {
        let world = PlaceWorld(memory: memory)
        for number in 1...3 { world.service.set("\(number)", 1) }
        return world
    }

    private let one = Place(id: "1", version: 2)

    // MARK: Savings

    @Test("Two reads ask the store once")
    func readsOnce() async throws {
        let world = world()
        try await world.put("1", 5)
        let reads = world.store.readCount
        for _ in 0..<2 { #expect(try await world.places.entity("1", .cacheOnly).version == 5) }
        #expect(world.store.readCount == reads + 1)
        let lists = world.store.readCount
        for _ in 0..<2 { #expect(try await world.places.all(.cacheOnly).map(\.version) == [5]) }
        #expect(world.store.readCount == lists + 1)
        #expect(world.memory?.hits == 2)
    }

    @Test("Results from the service fill the memory, including an empty list")
    func fills() async throws {
        let world = world()
        _ = try await world.places.entity("1")
        _ = try await world.places.all(.networkOnly)
        world.service.goOffline()
        let reads = world.store.readCount
        let all = try await world.places.fetchedAll(.cacheFirst(maxAge: .seconds(60)))
        #expect(all.value.count == 3 && all.freshness == .cached(age: .zero))
        #expect(world.store.readCount == reads)

        let empty = PlaceWorld()
        #expect(try await empty.places.all().isEmpty)
        empty.service.goOffline()
        let emptyReads = empty.store.readCount
        #expect(try await empty.places.fetchedAll().freshness == .cached(age: .zero))
        #expect(empty.store.readCount == emptyReads)
    }

    @Test("Concurrent reads ask the store once")
    func shares() async throws {
        let world = world()
        try await world.put("1", 5)
        _ = try await world.places.all(.cacheOnly)
        let hold = Hold()
        let reads = world.store.readCount
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await Hold.$current.withValue(hold) {
                        try await world.places.entity("1", .cacheOnly).version
                    }
                }
            }
            try await waitUntil { world.memory?.waiterCount == 100 }
            hold.gate.open()
            for try await version in group { #expect(version == 5) }
        }
        #expect(world.store.readCount == reads + 1)
    }

    @Test("A custom resource is remembered until its tag is invalidated")
    func remembersResources() async throws {
        let reads = Counter()
        let kept = Mutex("old")
        let memory = ResourceMemory()
        let loader = ResourceLoader(memory: memory)
        let resource = Resource<String>("text", tags: ["texts"]) {
            throw DataSourceError(.unreachable, source: .remote)
        } read: {
            reads.next()
            return kept.withLock { $0 }
        } store: { _ in
        }
        for _ in 0..<2 { #expect(try await loader.load(resource, .cacheOnly).value == "old") }
        #expect(reads.count == 1)
        // The same key with another type is another resource.
        let length = resource.map { $0.count }
        #expect(try await loader.load(length, .cacheOnly).value == 3)
        try await loader.write(invalidating: ["texts"]) { kept.withLock { $0 = "newer" } }
        #expect(try await loader.load(resource, .cacheOnly).value == "newer")
        #expect(try await loader.load(length, .cacheOnly).value == 5)
        // A failed write may have changed something as well.
        await #expect(throws: RepositoryError.self) {
            try await loader.write(invalidating: ["texts"]) {
                kept.withLock { $0 = "half" }
                throw DataSourceError(.storage)
            }
        }
        #expect(try await loader.load(resource, .cacheOnly).value == "half")
    }

    @Test("A source without change notifications is remembered and follows the loader's writes")
    func remembersOtherSources() async throws {
        let service = PlaceService()
        service.set("1", 1)
        let places = EntityRepository<Place>(
            "places",
            remote: service.remote,
            local: InMemoryDataSource<PlaceDTO>(),
            loader: ResourceLoader(memory: ResourceMemory()),
            id: { $0.id }
        )
        #expect(try await places.all().map(\.version) == [1])
        try await places.save(one)
        #expect(try await places.all(.cacheOnly).map(\.version) == [2])
        try await places.delete("1")
        #expect(try await places.all(.cacheOnly).isEmpty)
    }

    // MARK: Limits of the savings

    @Test("The next read reflects a write, an invalidation and a removal")
    func seesWrites() async throws {
        let world = world()
        let places = world.places
        _ = try await places.all()
        _ = try await places.entity("1")
        try await places.save(one)
        #expect(try await places.entity("1", .cacheOnly).version == 2)
        #expect(try await places.all(.cacheOnly).map(\.version) == [2, 1, 1])
        #expect(try await places.fetchedEntity("2", .cacheOnly).freshness == .stale(age: nil))
        try await places.delete("3")
        #expect(try await places.all(.cacheOnly).map(\.id) == ["1", "2"])
        // A fetch of one entity changes the lists that contain it.
        world.service.set("2", 7)
        _ = try await places.entity("2", .networkOnly)
        #expect(try await places.all(.cacheOnly).map(\.version) == [2, 7])
        // A fetch of all entities changes each one.
        world.service.set("1", 8)
        _ = try await places.all(.networkOnly)
        #expect(try await places.entity("1", .cacheOnly).version == 8)
        // Entities that the service no longer has are removed from memory as well.
        world.service.remove("2")
        _ = try? await places.entity("2", .networkFirst)
        #expect(try await places.all(.cacheOnly).map(\.id) == ["1"])
        await expectError(RepositoryError.self, .notCached) {
            try await places.entity("2", .cacheOnly)
        }
        try await places.invalidate()
        world.service.set("1", 9)
        #expect(try await places.entity("1").version == 9)
    }

    @Test("Each policy gives the same results with and without memory")
    func keepsPolicies() async throws {
        let (with, without) = (world(), world(nil))
        func outcome(_ world: PlaceWorld, _ policy: FetchPolicy) async -> [String] {
            var outcome: [String] = []
            do throws(RepositoryError) {
                outcome.append("\(try await world.places.fetchedEntity("1", policy))")
            } catch {
                outcome.append("\(error.code) \(error.dataSourceError?.code.name ?? "")")
            }
            do throws(RepositoryError) {
                outcome.append("\(try await world.places.fetchedAll(policy))")
            } catch {
                outcome.append("\(error.code) \(error.dataSourceError?.code.name ?? "")")
            }
            return outcome
        }
        let policies: [FetchPolicy] = [
            .cacheOnly, .cacheFirst(), .cacheFirst(maxAge: .seconds(60)), .networkFirst,
            .networkOnly, .cacheOnly,
        ]
        let steps: [@Sendable (PlaceWorld) async throws -> Void] = [
            { world in world.service.goOffline() },
            { world in world.service.goOffline(false) },
            { world in world.wall.advance(by: 61) },
            { world in
                world.service.goOffline()
                world.wall.advance(by: 61)
            },
            { world in try await world.places.invalidate() },
            { world in world.wall.advance(by: -10_000) },
            { world in
                world.service.goOffline(false)
                world.service.remove("1")
            },
            { world in world.store.failReads(.diskFull) },
        ]
        for (number, step) in steps.enumerated() {
            for world in [with, without] { try await step(world) }
            for policy in policies {
                // A failing store is not asked for values in memory, which is the only gain.
                if number == steps.count - 1 { await with.memory?.removeAll() }
                let (mine, others) = (await outcome(with, policy), await outcome(without, policy))
                #expect(mine == others, "step \(number), \(policy)")
            }
        }
        #expect(try #require(with.memory).hits > 0)
    }

    @Test("A failing store is not asked for remembered values")
    func outlivesFailures() async throws {
        let world = world()
        _ = try await world.places.all()
        world.store.failReads(.unavailable)
        #expect(try await world.places.all().count == 3)
        await world.memory?.removeAll()
        let error = await #expect(throws: RepositoryError.self) {
            try await world.places.all(.cacheOnly)
        }
        #expect(error?.dataSourceError?.storageError?.code == .unavailable)
    }

    // MARK: Races

    @Test("A read that was in progress during a write does not restore the old value")
    func ignoresOldReads() async throws {
        let world = world()
        try await world.put("1", 1)
        let places = world.places
        _ = try await places.entity("1", .cacheOnly)
        await world.memory?.removeAll()
        let (thing, list) = (Hold(), Hold())
        async let oldThing = Hold.$current.withValue(thing) {
            try await places.entity("1", .cacheOnly).version
        }
        async let oldList = Hold.$current.withValue(list) {
            try await places.all(.cacheOnly).map(\.version)
        }
        // Both already have their answers.
        try await waitUntil { thing.gate.begunCount == 1 && list.gate.begunCount == 1 }
        try await places.save(one)
        // A read that starts now does not get an answer from before the write.
        #expect(try await places.entity("1", .cacheOnly).version == 2)
        thing.gate.open()
        list.gate.open()
        _ = try await (oldThing, oldList)
        #expect(try await places.entity("1", .cacheOnly).version == 2)
        #expect(try await places.all(.cacheOnly).map(\.version) == [2])
    }

    @Test("A response that an entity does not exist leaves the entity saved in the meantime")
    func ignoresOldAbsence() async throws {
        let world = world()
        let places = world.places
        let gate = Gate()
        world.service.gate.withLock { $0 = gate }
        async let early = places.entity("9", .networkOnly).version
        // The response is already decided.
        try await waitUntil { gate.begunCount == 1 }
        world.service.gate.withLock { $0 = nil }
        try await places.save(Place(id: "9", version: 1))
        gate.open()
        #expect(try await early == 1)
        #expect(try await places.entity("9", .cacheOnly).version == 1)
    }

    @Test("A read that was in progress during another process's write is not remembered")
    func ignoresOldReadsOfOthers() async throws {
        let world = world()
        try await world.put("1", 1)
        let places = world.places
        // Changes are observed from here on.
        _ = try await places.all(.cacheOnly)
        let hold = Hold()
        async let old = Hold.$current.withValue(hold) {
            try await places.entity("1", .cacheOnly).version
        }
        try await waitUntil { hold.gate.begunCount == 1 }
        try await world.settle(try await world.put("1", 2))
        async let new = places.entity("1", .cacheOnly).version
        hold.gate.open()
        #expect(try await [old, new] == [2, 2])
        #expect(try await places.entity("1", .cacheOnly).version == 2)
    }

    @Test("A cancelled caller leaves, and the others get their value")
    func leaves() async throws {
        let world = world()
        try await world.put("1", 1)
        let places = world.places
        _ = try await places.all(.cacheOnly)
        let hold = Hold()
        let first = Task {
            try await Hold.$current.withValue(hold) { try await places.entity("1", .cacheOnly) }
        }
        try await waitUntil { hold.gate.begunCount == 1 }
        let second = Task { try await places.entity("1", .cacheOnly) }
        try await waitUntil { world.memory?.waiterCount == 2 }
        first.cancel()
        await expectError(RepositoryError.self, .cancelled) { try await first.value }
        hold.gate.open()
        #expect(try await second.value.version == 1)
    }

    // MARK: Bounds

    @Test("A memory stays within its limits on entries and bytes")
    func isBounded() async throws {
        for limits in [CacheLimits.count(2), .bytes(1_000)] {
            let world = PlaceWorld(memory: ResourceMemory(limits))
            for number in 1...20 { try await world.put("\(number)", number) }
            for number in 1...20 {
                #expect(try await world.places.entity("\(number)", .cacheOnly).version == number)
            }
            let memory = try #require(world.memory)
            #expect(memory.count > 0)
            #expect(limits.count.map { memory.count <= $0 } ?? (memory.cost <= 1_000))
        }
        // A list is larger than one of its entities; one that does not fit is not stored.
        let small = PlaceWorld(memory: ResourceMemory(.bytes(600)))
        for number in 1...50 { try await small.put("\(number)", number) }
        #expect(try await small.places.all(.cacheOnly).count == 50)
        #expect(small.memory?.count == 0)
        #expect(try await small.places.entity("7", .cacheOnly).version == 7)
        #expect(small.memory?.count == 1)
    }
}
