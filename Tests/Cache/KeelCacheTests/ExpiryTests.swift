import KeelCache
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Expiry and idle time", .timeLimit(.minutes(1)))
struct ExpiryTests {
    private let clock = TestClock()
    private let time: CacheClock

    init() { time = .following(clock) }

    private func cache(
        _ configuration: CacheConfiguration = CacheConfiguration(),
        over tier: (any CacheTier)? = nil
    ) -> Cache<String, Int> {
        guard let tier else { return Cache(configuration, clock: time) }
        return Cache(over: tier, name: "test", coding: .json(), configuration, clock: time)
    }

    @Test("A value is found until its expiry, but not at that moment")
    func expires() async {
        let cache = cache(CacheConfiguration(expiry: .minutes(1)))
        await cache.set(1, for: "a")
        await cache.set(2, for: "b", expiry: .never)
        await cache.set(3, for: "c", expiry: .seconds(0))
        #expect(cache.peek("c") == nil)
        await clock.advance(by: .seconds(59))
        #expect(cache.peek("a") == 1)
        await clock.advance(by: .seconds(1))
        #expect(cache.peek("a") == nil)
        #expect(cache.peek("b") == 2)
        #expect(cache.statistics.expirations == 2)
        #expect(cache.statistics.hits == 2 && cache.statistics.misses == 2)
    }

    @Test("Every form of expiry works in every tier", arguments: [false, true])
    func forms(_ isBelow: Bool) async throws {
        let tier = InMemoryCacheTier(clock: time)
        let forms: [CacheExpiry] = [
            .seconds(7_200), .minutes(120), .hours(2), .days(1.0 / 12),
            .date(time.now.advanced(bySeconds: 7_200).date), .after(.seconds(7_200)),
        ]
        for form in forms {
            let cache = cache(over: isBelow ? tier : nil)
            await cache.set(1, for: "a", expiry: form)
            await clock.advance(by: .seconds(1))
        }
        let above = cache(over: isBelow ? tier : nil)
        for (index, form) in forms.enumerated() {
            await above.set(index, for: "\(index)", expiry: form)
        }
        await clock.advance(by: .seconds(7_190))
        let below = isBelow ? cache(over: tier) : above
        for index in forms.indices { #expect(await below.get("\(index)") == index) }
        await clock.advance(by: .seconds(10))
        for index in forms.indices {
            #expect(await above.get("\(index)") == nil)
            #expect(await below.get("\(index)") == nil)
        }
    }

    @Test("Promotion from the tier does not extend a value's expiry")
    func promotion() async {
        let tier = InMemoryCacheTier(clock: time)
        await cache(over: tier).set(1, for: "a", expiry: .seconds(100))
        await clock.advance(by: .seconds(60))
        let other = cache(CacheConfiguration(expiry: .seconds(100)), over: tier)
        #expect(await other.get("a") == 1)
        #expect(other.peek("a") == 1)
        #expect(other.statistics.tierHits == 1)
        await clock.advance(by: .seconds(39))
        #expect(other.peek("a") == 1)
        await clock.advance(by: .seconds(1))
        #expect(await other.get("a") == nil)
    }

    @Test("An expired entry returned by the tier is ignored")
    func distrust() async {
        let tier = InMemoryCacheTier(clock: .system)
        await cache(over: tier).set(1, for: "a", expiry: .days(1_000_000))
        let late = CacheClock(now: { CacheInstant(microseconds: .max) }, sleep: { _ in })
        let cache = Cache<String, Int>(over: tier, name: "test", coding: .json(), clock: late)
        #expect(await cache.get("a") == nil)
    }

    @Test("After the clock was a day ahead, values of the tier that expire are not used")
    func clockAhead() async {
        let tier = InMemoryCacheTier(clock: time)
        let ahead = CacheClock.following(clock, from: time.now.advanced(bySeconds: 86_400).date)
        let early = Cache<String, Int>(over: tier, name: "test", coding: .json(), clock: ahead)
        await early.set(1, for: "a", expiry: .seconds(100))
        await early.set(2, for: "b", expiry: .never)
        let cache = cache(over: tier)
        #expect(await cache.get("a") == nil)
        #expect(await cache.get("b") == 2)
    }

    @Test("An idle entry is dropped, and each use keeps it")
    func idle() async {
        let cache = cache(CacheConfiguration(timeToIdle: .seconds(10)))
        await cache.set(1, for: "used")
        await cache.set(2, for: "idle")
        for _ in 0..<5 {
            await clock.advance(by: .seconds(9))
            #expect(cache.peek("used") == 1)
        }
        #expect(cache.peek("idle") == nil)
        #expect(!cache.contains("idle") && cache.contains("used"))
        await clock.advance(by: .seconds(10))
        #expect(cache.peek("used") == nil)
        #expect(cache.statistics.expirations == 2)
    }

    @Test("Idle time and expiry apply together: the earlier one counts")
    func idleAndExpiry() async {
        let cache = cache(CacheConfiguration(expiry: .seconds(15), timeToIdle: .seconds(10)))
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(9))
        #expect(cache.peek("a") == 1)
        await clock.advance(by: .seconds(6))
        #expect(cache.peek("a") == nil)
    }

    @Test("An entry that was idle in memory does not return from the tier")
    func idleBelow() async {
        let tier = InMemoryCacheTier(clock: time)
        let cache = cache(CacheConfiguration(timeToIdle: .seconds(10)), over: tier)
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(10))
        #expect(await cache.get("a") == nil)
    }

    @Test("An entry that was promoted from the tier is kept by its uses, until its own expiry")
    func idlePromoted() async {
        let tier = InMemoryCacheTier(clock: time)
        let configuration = CacheConfiguration(timeToIdle: .seconds(10))
        let writer = cache(configuration, over: tier)
        await writer.set(1, for: "used")
        await writer.set(2, for: "expiring", expiry: .seconds(30))
        await clock.advance(by: .seconds(5))
        let reader = cache(configuration, over: tier)
        #expect(await reader.get("used") == 1)
        #expect(await reader.get("expiring") == 2)
        for _ in 0..<3 {
            await clock.advance(by: .seconds(8))
            #expect(reader.peek("used") == 1)
            #expect(reader.peek("expiring") == 2)
        }
        await clock.advance(by: .seconds(1))
        #expect(reader.peek("used") == 1)
        #expect(reader.peek("expiring") == nil)
        await clock.advance(by: .seconds(10))
        #expect(await reader.get("used") == nil)
    }

    @Test("Without a time to idle of its own, a cache keeps the end that the tier's entry has")
    func idleOfAnother() async {
        let tier = InMemoryCacheTier(clock: time)
        await cache(CacheConfiguration(timeToIdle: .seconds(10)), over: tier).set(1, for: "a")
        let reader = cache(over: tier)
        #expect(await reader.get("a") == 1)
        await clock.advance(by: .seconds(10))
        #expect(await reader.get("a") == nil)
    }

    @Test("Removing expired entries frees memory in the cache and in the tier")
    func sweeps() async throws {
        let tier = InMemoryCacheTier(clock: time)
        let cache = cache(over: tier)
        for key in 0..<3_000 {
            await cache.set(key, for: "\(key)", expiry: key % 3 == 0 ? .never : .seconds(5))
        }
        await clock.advance(by: .seconds(5))
        #expect(cache.count == 3_000)
        try await cache.removeExpired()
        #expect(cache.count == 1_000)
        #expect(try await tier.usage().entryCount == 1_000)
        #expect(cache.statistics.expirations == 2_000)
    }

    @Test("The clock is read only for entries that can expire")
    func sparesTheClock() async {
        let reads = Counter()
        let clock = CacheClock(
            now: {
                reads.next()
                return CacheInstant(microseconds: 0)
            },
            sleep: { _ in }
        )
        let cache = Cache<Int, Int>(clock: clock)
        await cache.set(1, for: 1)
        for _ in 0..<10 { _ = cache.peek(1) }
        _ = cache.peek(2)
        #expect(reads.count == 0)
        await cache.set(2, for: 2, expiry: .seconds(1))
        reads.reset()
        _ = cache.peek(1)
        #expect(reads.count == 0)
        _ = cache.peek(2)
        #expect(reads.count == 1)
    }
}
