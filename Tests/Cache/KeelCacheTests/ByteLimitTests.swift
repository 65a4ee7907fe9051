import Foundation
import KeelCache
import Testing

@Suite("Byte limits")
struct ByteLimitTests {
    private struct Menu: Codable, Sendable {
        var dishes: [String]
        var jsonBytes: Int { (try? JSONEncoder().encode(self).count) ?? 0 }
    }

    /// A value whose size cannot be measured.
    private final class Opaque: Sendable {}

    private func configuration(_ bytes: Int) -> CacheConfiguration {
        CacheConfiguration(limits: .bytes(bytes))
    }

    @Test("A value costs its bytes: raw, as text, as JSON, or 1,024")
    func measures() async {
        let bytes = Cache<Int, [UInt8]>(configuration(10_000))
        await bytes.set(Array(repeating: 0, count: 700), for: 1)
        #expect(bytes.cost == 700)
        let data = Cache<Int, Data>(configuration(10_000))
        data.setSynchronously(Data(count: 300), for: 1)
        #expect(data.cost == 300)
        let texts = Cache<Int, String>(configuration(10_000))
        await texts.set("Zoë", for: 1)
        #expect(texts.cost == 4)
        let menu = Menu(dishes: ["soup", "bread"])
        let menus = Cache<Int, Menu>(configuration(10_000))
        await menus.set(menu, for: 1, expiry: .minutes(1), tags: ["lunch"])
        #expect(menus.cost == menu.jsonBytes)
        let opaque = Cache<Int, Opaque>(configuration(10_000))
        await opaque.set(Opaque(), for: 1)
        #expect(opaque.cost == 1_024)
    }

    @Test("An explicit cost replaces the measured one")
    func prefersSaid() async {
        let cache = Cache<Int, String>(configuration(10_000)) { _ in 7 }
        await cache.set("a long text", for: 1)
        #expect(cache.cost == 7)
        let plain = Cache<Int, String>(configuration(10_000))
        await plain.set("a long text", for: 1, cost: 3)
        #expect(plain.cost == 3)
    }

    @Test("The limit always holds, over a tier and in a store of several types")
    func holds() async throws {
        let store = CacheStore(configuration(5_000), over: InMemoryCacheTier())
        let texts = store.cache("texts", key: Int.self, value: String.self)
        let menus = store.cache("menus", key: Int.self, value: Menu.self)
        let views = store.memoryCache("views", key: Int.self, value: String.self)
        for number in 0..<200 {
            await texts.set(String(repeating: "x", count: 100), for: number)
            await menus.set(Menu(dishes: Array(repeating: "soup", count: 10)), for: number)
            await views.set(String(repeating: "y", count: 50), for: number)
            #expect(store.cost <= 5_000)
        }
        #expect(store.count > 20 && store.count < 100)
        // Values promoted from the tier cost their bytes as well.
        for number in 0..<200 {
            #expect(await texts.get(number)?.count == 100)
            #expect(store.cost <= 5_000)
        }
        // Larger than the whole limit: not in memory, and not in the way.
        await texts.set(String(repeating: "z", count: 9_000), for: 1_000)
        #expect(texts.peek(1_000) == nil)
        #expect(await texts.get(1_000)?.count == 9_000)
    }
}
