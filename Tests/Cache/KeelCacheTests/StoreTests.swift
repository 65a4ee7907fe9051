import KeelCache
import KeelTestKit
import Testing

@Suite("Caches of one store", .timeLimit(.minutes(1)))
struct StoreTests {
    struct Restaurant: Codable, Sendable, Equatable { var name: String }

    @Test("Caches of different types share one budget")
    func sharesMemory() async throws {
        let store = CacheStore(CacheConfiguration(limits: CacheLimits(count: 10, cost: 100)))
        let restaurants = store.cache("restaurants", key: String.self, value: Restaurant.self)
        let ratings = store.cache("ratings", key: Int.self, value: Double.self, cost: { _ in 20 })
        let closures = store.memoryCache(
            "closures",
            key: Int.self,
            value: (@Sendable () -> Int).self
        )
        for index in 0..<30 {
            await restaurants.set(Restaurant(name: "\(index)"), for: "\(index)")
            await ratings.set(Double(index), for: index)
            await closures.set({ index }, for: index)
            #expect(store.count <= 10)
            #expect(store.cost <= 100)
        }
        #expect(restaurants.count + ratings.count + closures.count == store.count)
        // Other entries may have been evicted for ones that cost less.
        #expect(closures.peek(29)?() == 29)
        #expect(closures.statistics.hits == 1)
        #expect(ratings.statistics.hits == 0)
        #expect(ratings.statistics.evictions > 0)
    }

    @Test("Equal keys of two caches are separate entries")
    func separates() async throws {
        let store = CacheStore(over: InMemoryCacheTier())
        let one = store.cache("one", key: Int.self, value: Int.self)
        let two = store.cache("two", key: Int.self, value: Int.self)
        await one.set(1, for: 1)
        await two.set(2, for: 1)
        #expect(one.peek(1) == 1 && two.peek(1) == 2)
        try await one.remove(1)
        #expect(await one.get(1) == nil)
        #expect(await two.get(1) == 2)
        await one.set(3, for: 1)
        try await two.removeAll()
        #expect(await two.get(1) == nil)
        #expect(await one.get(1) == 3)
    }

    @Test("The same name returns the same cache")
    func sameCache() {
        let store = CacheStore()
        let one = store.cache("a", key: Int.self, value: Int.self)
        #expect(store.cache("a", key: Int.self, value: Int.self) === one)
        #expect(store.cache("b", key: Int.self, value: Int.self) !== one)
    }

    @Test("Tags, emptying and expiry apply to all caches and the tier")
    func all() async throws {
        let clock = TestClock()
        let time = CacheClock.following(clock)
        let tier = InMemoryCacheTier(clock: time)
        let store = CacheStore(over: tier, clock: time)
        let one = store.cache("one", key: Int.self, value: Int.self)
        let two = store.cache("two", key: Int.self, value: String.self)
        await one.set(1, for: 1, tags: ["t"])
        await two.set("2", for: 1, tags: ["t"])
        await one.set(3, for: 2)
        await two.set("4", for: 2, expiry: .seconds(5))
        try await store.removeAll(tagged: "t")
        #expect(await one.get(1) == nil)
        #expect(await two.get(1) == nil)
        #expect(await two.get(2) == "4")
        await clock.advance(by: .seconds(5))
        try await store.removeExpired()
        #expect(store.count == 1)
        #expect(await two.get(2) == nil)
        try await store.flush()
        #expect(try await store.tierUsage()?.hitCount != nil)
        try await store.removeAll()
        #expect(store.count == 0)
        #expect(await one.get(2) == nil)
        #expect(try await tier.usage().entryCount == 0)
    }

    @Test("A reopened store finds the entries that another one left in its tier")
    func reopens() async throws {
        let tier = InMemoryCacheTier()
        await CacheStore(over: tier).cache("r", key: String.self, value: Restaurant.self)
            .set(Restaurant(name: "Luigi"), for: "1")
        let again = CacheStore(over: tier).cache("r", key: String.self, value: Restaurant.self)
        #expect(await again.get("1") == Restaurant(name: "Luigi"))
    }
}
