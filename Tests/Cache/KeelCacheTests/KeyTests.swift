import KeelCache
import KeelTestKit
import Testing

@Suite("Keys")
struct KeyTests {
    struct Clashing: Hashable, Sendable {
        var name: Int
        func hash(into hasher: inout Hasher) { hasher.combine(name % 3) }
    }

    @Test("Canonically equivalent strings are one key")
    func equivalentStrings() async {
        let pairs = [
            ("\u{e9}", "e\u{301}"), ("\u{212A}", "K"), ("a\u{37E}b", "a;b"), ("\u{1FEF}", "`"),
            ("\u{212A}elvin and more than sixteen bytes", "Kelvin and more than sixteen bytes"),
            ("\u{AC00}", "\u{1100}\u{1161}"),
        ]
        for (one, other) in pairs {
            let cache = Cache<String, Int>()
            #expect(one == other)
            await cache.set(1, for: one)
            #expect(cache.peek(other) == 1, "\(other)")
            await cache.set(2, for: other)
            #expect(cache.peek(one) == 2 && cache.count == 1)
        }
    }

    @Test("Strings of every length are distinguished by every character")
    func strings() async {
        let cache = Cache<String, String>(CacheConfiguration(limits: .none))
        var keys: Set<String> = [""]
        for length in 1..<70 {
            let base = String(repeating: "a", count: length)
            keys.insert(base)
            for place in [0, length / 2, length - 1] {
                var bytes = Array(base.utf8)
                bytes[place] = UInt8(ascii: "b")
                keys.insert(String(decoding: bytes, as: UTF8.self))
                keys.insert(String(decoding: bytes, as: UTF8.self) + "\u{e9}")
            }
        }
        for key in keys { await cache.set(key, for: key) }
        #expect(cache.count == keys.count)
        for key in keys { #expect(cache.peek(key) == key) }
    }

    @Test("Integers of every kind can be keys", arguments: [Int.min, -1, 0, 1, 1 << 32, Int.max])
    func integers(_ key: Int) async {
        let ints = Cache<Int, Int>()
        await ints.set(1, for: key)
        #expect(ints.peek(key) == 1 && ints.peek(key ^ 2) == nil)
        let unsigned = Cache<UInt64, Int>()
        await unsigned.set(1, for: UInt64(bitPattern: Int64(key)))
        #expect(unsigned.peek(UInt64(bitPattern: Int64(key))) == 1)
        let small = Cache<UInt8, Int>()
        await small.set(1, for: UInt8(truncatingIfNeeded: key))
        #expect(small.peek(UInt8(truncatingIfNeeded: key)) == 1)
    }

    @Test("Keys with equal hashes are distinguished, even while others come and go")
    func clashes() async throws {
        let cache = Cache<Clashing, Int>(CacheConfiguration(limits: .none))
        var random = SeededRandom(seed: 7)
        var model: [Int: Int] = [:]
        for round in 0..<20_000 {
            let name = Int.random(in: 0..<40, using: &random)
            if round % 3 == 0 {
                try await cache.remove(Clashing(name: name))
                model[name] = nil
            } else {
                await cache.set(round, for: Clashing(name: name))
                model[name] = round
            }
            let probe = Int.random(in: 0..<40, using: &random)
            #expect(cache.peek(Clashing(name: probe)) == model[probe])
        }
        #expect(cache.count == model.count)
    }

    @Test("A table that grows and shrinks matches a dictionary", arguments: [1, 2, 3])
    func agreesWithDictionary(_ seed: UInt64) async throws {
        let cache = Cache<Int, String>(CacheConfiguration(limits: .none))
        var random = SeededRandom(seed: seed)
        var model: [Int: String] = [:]
        for round in 0..<60_000 {
            let range = round % 20_000 < 10_000 ? 5_000 : 50
            let key = Int.random(in: 0..<range, using: &random)
            if Int.random(in: 0..<5, using: &random) < 2 {
                try await cache.remove(key)
                model[key] = nil
            } else {
                await cache.set("\(round)", for: key)
                model[key] = "\(round)"
            }
        }
        #expect(cache.count == model.count)
        for key in 0..<5_000 where cache.peek(key) != model[key] {
            Issue.record("key \(key) differs")
        }
        try await cache.removeAll()
        #expect(cache.count == 0)
    }
}
