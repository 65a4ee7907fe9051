import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelCache

@Suite("Caches over a tier", .timeLimit(.minutes(1)))
struct TierTests {
    struct Menu: Codable, Sendable, Equatable {
        var name: String
        var prices: [Double]
    }

    private func cache<Value: Codable & Sendable>(
        _ tier: any CacheTier,
        _ limits: CacheLimits = .count(100),
        version: Int = 1
    ) -> Cache<String, Value> {
        Cache(
            over: tier,
            name: "test",
            coding: .json(version: version),
            CacheConfiguration(limits: limits)
        )
    }

    @Test("The memory tier forgets old tag removals without restoring entries")
    func forgetsTags() async throws {
        let tier = InMemoryCacheTier()
        let now = CacheClock.system.now
        for (key, tags) in [([UInt8(1)], ["gone"]), ([2], ["kept"]), ([3], [])] {
            try await tier.write([
                CacheRecord(key: key, body: .bytes([1]), created: now, tags: tags)
            ])
        }
        try await tier.remove(.tag("gone"))
        for number in 0...10_000 { try await tier.remove(.tag("other \(number)")) }
        #expect(try await tier.read([1])?.key == nil)
        #expect(try await tier.read([3])?.key == [3])
        try await tier.write([
            CacheRecord(key: [2], body: .bytes([2]), created: now, tags: ["kept"])
        ])
        #expect(try await tier.read([2])?.body.bytes() == [2])
        try await tier.remove(.tag("kept"))
        #expect(try await tier.read([2])?.key == nil)
    }

    /// A tier whose reads wait at a gate once they have found their record.
    private struct HeldTier: CacheTier {
        let base: InMemoryCacheTier
        let gate: Gate

        func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
            let record = try await base.read(key)
            _ = try? await gate.pass()
            return record
        }

        func write(_ records: [CacheRecord]) async throws(CacheError) {
            try await base.write(records)
        }

        func remove(_ selection: CacheSelection) async throws(CacheError) {
            try await base.remove(selection)
        }

        func flush() async throws(CacheError) { try await base.flush() }

        func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }

        func usage() async throws(CacheError) -> CacheTierUsage { try await base.usage() }
    }

    @Test("Values that are loaded after a read of the tier, in which all were removed, do not stay")
    func removedDuringRead() async throws {
        let (base, gate) = (InMemoryCacheTier(), Gate())
        let cache: Cache<String, Int> = cache(HeldTier(base: base, gate: gate))
        let one = Task { try await cache.value(for: "a") { 1 } }
        let several = Task { try await cache.values(for: ["b"]) { _ in ["b": 2] } }
        try await waitUntil { gate.begunCount == 2 }
        try await cache.removeAll()
        gate.open()
        #expect(try await one.value == 1)
        #expect(try await several.value == ["b": 2])
        #expect(cache.count == 0)
        #expect(try await base.usage().entryCount == 0)
        #expect(cache.statistics.supersededLoads == 2)
    }

    @Test("A stale value that is removed while the tier is read is not reloaded")
    func removedDuringStaleRead() async throws {
        let clock = TestClock()
        let time = CacheClock.following(clock)
        let (base, gate) = (InMemoryCacheTier(clock: time), Gate())
        func cache(_ tier: any CacheTier) -> Cache<String, Int> {
            Cache(
                over: tier,
                name: "test",
                coding: .json(),
                CacheConfiguration(expiry: .seconds(10), staleness: .seconds(60)),
                clock: time
            )
        }
        await cache(base).set(1, for: "a")
        await clock.advance(by: .seconds(20))
        let held = cache(HeldTier(base: base, gate: gate))
        let read = Task { try await held.value(for: "a", policy: .staleWhileRevalidate) { 2 } }
        try await waitUntil { gate.begunCount == 1 }
        try await held.removeAll()
        gate.open()
        #expect(try await read.value == 1)
        try await waitUntil { held.background.count == 0 }
        #expect(held.count == 0)
        #expect(held.statistics.loads == 0)
    }

    @Test("A value that does not fit in memory is found in the tier")
    func overflows() async {
        let tier = InMemoryCacheTier()
        let cache: Cache<String, Menu> = cache(tier, .count(2))
        for index in 0..<20 {
            await cache.set(Menu(name: "\(index)", prices: [1]), for: "\(index)")
        }
        #expect(cache.count == 2)
        for index in 0..<20 { #expect(await cache.get("\(index)")?.name == "\(index)") }
        #expect(cache.count == 2)
        #expect(cache.statistics.tierHits >= 18)
    }

    @Test("A value that memory rejects is found in the tier")
    func refusedAbove() async {
        let tier = InMemoryCacheTier()
        let cache: Cache<String, Int> = cache(tier, .cost(10))
        await cache.set(1, for: "a")
        await cache.set(2, for: "a", cost: 11)
        #expect(cache.peek("a") == nil)
        #expect(await cache.get("a") == 2)
    }

    @Test("A policy that always loads counts neither its reads of memory nor those of the tier")
    func uncountedReads() async throws {
        let tier = InMemoryCacheTier()
        await cache(tier).set(1, for: "a")
        let reader: Cache<String, Int> = cache(tier)
        #expect(try await reader.value(for: "a", policy: .loadFirst) { 2 } == 2)
        #expect(reader.statistics.tierHits == 0)
        #expect(reader.peek("b") == nil)
        #expect(reader.statistics.hitRatio == 0)
    }

    @Test("Concurrent misses read the tier once")
    func sharesReads() async throws {
        let clock = TestClock()
        let tier = InMemoryCacheTier().recorded()
        await cache(tier).set(1, for: "a")
        let slow = tier.failing(clock: clock) { $0.kind == .read ? .delay(.seconds(1)) : nil }
        let reader: Cache<String, Int> = cache(slow)
        let callers = (0..<50).map { _ in Task { await reader.get("a") } }
        await clock.waitForSleepers()
        try await waitUntil { reader.promotions.waiterCount >= 50 }
        await clock.advance(by: .seconds(1))
        for caller in callers { #expect(await caller.value == 1) }
        #expect(tier.callCount(of: .read) == 1)
    }

    @Test("Entries of another version, name or type are not found")
    func spaces() async throws {
        let tier = InMemoryCacheTier()
        let first: Cache<String, Int> = cache(tier)
        await first.set(1, for: "a")
        let second: Cache<String, Int> = cache(tier, version: 2)
        #expect(await second.get("a") == nil)
        let other = Cache<String, Int>(over: tier, name: "tes", coding: .json())
        #expect(await other.get("ta") == nil)
        #expect(await other.get("a") == nil)
        let texts: Cache<String, [String]> = cache(tier)
        #expect(await texts.get("a") == nil)
        #expect(texts.statistics.decodingFailures == 1)
        await second.set(2, for: "a")
        try await first.removeAll()
        #expect(await first.get("a") == nil)
        #expect(await second.get("a") == 2)
    }

    @Test("Bytes and strings are stored unchanged")
    func codings() async throws {
        let tier = InMemoryCacheTier().recorded()
        let bytes = Cache<Int, [UInt8]>(over: tier, name: "b", coding: .bytes)
        await bytes.set([1, 2, 3], for: 7)
        let text = Cache<Int, String>(over: tier, name: "t", coding: .string)
        await text.set("h\u{e9}", for: 7)
        #expect(
            try tier.records.map { try $0.body.bytes() } == [[1, 2, 3], Array("h\u{e9}".utf8)]
        )
        let again = Cache<Int, String>(over: tier, name: "t", coding: .string)
        #expect(await again.get(7) == "h\u{e9}")
    }

    @Test("A value that cannot be encoded stays in memory, and the tier drops the old one")
    func encodingFails() async {
        let tier = InMemoryCacheTier()
        let cache: Cache<String, Double> = cache(tier)
        await cache.set(1, for: "a")
        await cache.set(.infinity, for: "a")
        #expect(cache.peek("a") == .infinity)
        let below: Cache<String, Double> = self.cache(tier)
        #expect(await below.get("a") == nil)
        await expectError(CacheError.self, .encodingFailed) {
            try await cache.setDurably(.nan, for: "a")
        }
    }

    // MARK: Failures

    @Test("A full disk fails no set: memory has the new value, and the old one is gone")
    func diskFull() async throws {
        let tier = InMemoryCacheTier()
        let full = tier.failing { call in
            guard case .write(let records) = call else { return nil }
            let isOld = (try? records.first?.body.bytes()) == Array("1".utf8)
            return isOld ? nil : .fail(.diskFull)
        }
        let cache: Cache<String, Int> = cache(full, .count(1))
        var events = cache.events().makeAsyncIterator()
        await cache.set(1, for: "a")
        await cache.set(2, for: "a")
        #expect(cache.peek("a") == 2)
        #expect(cache.statistics.tierFailures == 1)
        _ = await events.next()
        guard case .failed(let error) = await events.next()?.reason
        else { return fail("the failure was not told") }
        #expect(error.code == .diskFull)
        await cache.set(3, for: "b")
        #expect(await cache.get("a") == nil)
        await expectError(CacheError.self, .diskFull) { try await cache.setDurably(4, for: "c") }
        #expect(cache.peek("c") == 4)
    }

    @Test("A tier that always fails leaves a cache in memory that respects removals")
    func everythingFails() async throws {
        let isBroken = Counter()
        let tier = InMemoryCacheTier().failing { _ in isBroken.count > 0 ? .fail() : nil }
        let cache: Cache<String, Int> = cache(tier, .count(2))
        await cache.set(1, for: "a")
        await cache.set(1, for: "b", tags: ["t"])
        await cache.set(1, for: "c")
        isBroken.next()
        await cache.set(2, for: "a")
        await cache.set(2, for: "x")
        await cache.set(2, for: "y")
        await #expect(throws: CacheError.self) { try await cache.remove("c") }
        await #expect(throws: CacheError.self) { try await cache.removeAll(tagged: "t") }
        #expect(await cache.get("y") == 2)
        isBroken.reset()
        // Entries that could not be replaced or removed in the tier must not return.
        for key in ["b", "c"] { #expect(await cache.get(key) == nil) }
        #expect(await cache.get("a") != 1)
        await cache.set(3, for: "a")
        await cache.set(3, for: "p")
        await cache.set(3, for: "q")
        #expect(await cache.get("a") == 3)
        isBroken.next()
        await #expect(throws: CacheError.self) { try await cache.removeAll() }
        isBroken.reset()
        #expect(await cache.get("a") == nil)
        try await cache.removeAll()
        await cache.set(4, for: "a")
        #expect(await cache.get("a") == 4)
    }

    @Test("A failed read is a miss, and the value is loaded")
    func readFails() async throws {
        let tier = InMemoryCacheTier().failing { $0.kind == .read ? .fail() : nil }
        let cache: Cache<String, Int> = cache(tier)
        #expect(try await cache.value(for: "a") { 5 } == 5)
        #expect(cache.statistics.tierFailures == 1)
    }

    @Test("A record that the tier rejects does not affect the others of its call")
    func partialFailure() async throws {
        let clock = TestClock()
        let tier = InMemoryCacheTier()
        let picky = tier.failing(clock: clock) { call in
            guard case .write(let records) = call else { return nil }
            let values = records.compactMap { try? $0.body.bytes() }
            if values.contains(Array("0".utf8)) { return .delay(.seconds(1)) }
            return values.contains(Array("13".utf8)) ? .fail(.tooLarge) : nil
        }
        let cache: Cache<String, Int> = cache(picky)
        let first = Task { await cache.set(0, for: "0") }
        await clock.waitForSleepers()
        let others = (10..<20).map { value in Task { await cache.set(value, for: "\(value)") } }
        try await waitUntil { cache.count >= 11 }
        await clock.advance(by: .seconds(1))
        _ = await first.value
        for other in others { await other.value }
        let below: Cache<String, Int> = self.cache(tier)
        for value in 10..<20 { #expect(await below.get("\(value)") == (value == 13 ? nil : value)) }
    }

    // MARK: Tags

    @Test("Removing a tag covers memory and tier, survives a restart and spares newer values")
    func tags() async throws {
        let tier = InMemoryCacheTier()
        let cache: Cache<String, Int> = cache(tier)
        await cache.set(1, for: "a", tags: ["x"])
        await cache.set(2, for: "b", tags: ["x", "y"])
        await cache.set(3, for: "c", tags: ["y"])
        try await cache.removeAll(tagged: "x")
        await cache.set(4, for: "a", tags: ["x"])
        #expect(cache.peek("a") == 4 && cache.peek("b") == nil && cache.peek("c") == 3)
        #expect(cache.statistics.invalidations == 1)
        let restarted: Cache<String, Int> = self.cache(tier)
        #expect(await restarted.get("a") == 4)
        #expect(await restarted.get("b") == nil)
        try await restarted.removeAll(tagged: "y")
        #expect(await restarted.get("c") == nil)
    }

    @Test("Too many removed tags drop tagged entries, but no others")
    func manyTags() async throws {
        let cache = Cache<Int, Int>()
        await cache.set(1, for: 1, tags: ["kept"])
        await cache.set(2, for: 2)
        for index in 0..<10_001 { try await cache.removeAll(tagged: "\(index)") }
        #expect(cache.peek(1) == nil && cache.peek(2) == 2)
        await cache.set(3, for: 1, tags: ["kept"])
        #expect(cache.peek(1) == 3)
    }
}
