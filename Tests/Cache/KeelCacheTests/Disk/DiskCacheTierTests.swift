import Foundation
import KeelCache
import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("The disk tier")
struct DiskCacheTierTests {
    @Test("Entries are returned with their times and tags")
    func roundTrip() async throws {
        let tier = try DiskFolder().tier()
        var written = record("a", bytes(5000), tags: ["x", "ü"])
        written.staleAfter = CacheInstant(microseconds: -5)
        written.expires = CacheInstant(microseconds: .max)
        try await tier.write([written])
        let found = try #require(try await tier.read(written.key))
        #expect(try found.body.bytes() == bytes(5000))
        #expect(found.created == written.created)
        #expect(found.staleAfter == written.staleAfter)
        #expect(found.expires == written.expires)
        #expect(found.tags == ["x", "ü"])
        #expect(try await tier.value("b") == nil)
        let usage = try await tier.usage()
        #expect(usage.hitCount == 1 && usage.missCount == 1 && usage.entryCount == 1)
    }

    @Test("Empty keys, empty values and values around every size boundary are kept")
    func sizes() async throws {
        let folder = DiskFolder()
        let borders = [65_535, 65_536, 65_537, 131_072, 131_073, 500_000]
        let tier = try folder.tier(limit: 64 << 20)
        for count in [0, 1, 31, 32, 33] + borders {
            try await tier.set("\(count)", bytes(count, seed: count))
        }
        try await tier.set("", [7])
        #expect(try await tier.value("") == [7])
        await tier.close()
        let again = try folder.tier(limit: 64 << 20)
        for count in [0, 1, 31, 32, 33] + borders {
            #expect(try await again.value("\(count)") == bytes(count, seed: count))
        }
        #expect(try folder.names().count { $0.hasSuffix(".value") } == 4)
    }

    @Test("All entries are found after closing, after deinitialization and without a snapshot")
    func reopening() async throws {
        let folder = DiskFolder()
        var tier: DiskCacheTier? = try folder.tier()
        for number in 0..<100 { try await tier?.set("\(number)", bytes(number)) }
        try await tier?.remove(.keys([Array("5".utf8)]))
        await tier?.close()
        #expect(try folder.names().contains("index.snapshot"))
        tier = try folder.tier()
        try await tier?.set("7", [1])
        tier = nil
        tier = try folder.tier()
        #expect(try await tier?.value("7") == [1])
        await tier?.close()
        try FileManager.default.removeItem(at: folder.url.appending(path: "index.snapshot"))
        tier = try folder.tier()
        #expect(try await tier?.usage().entryCount == 99)
        #expect(try await tier?.value("5") == nil)
        #expect(try await tier?.value("7") == [1])
        #expect(try await tier?.value("99") == bytes(99))
        #expect(try await tier?.usage().damagedCount == 0)
    }

    @Test("Removals by key, by tag, by time and of everything survive reopening")
    func removals() async throws {
        let files = SimulatedFileSystem()
        let clock = TestClock()
        let time = CacheClock.following(clock)
        var tier: DiskCacheTier? = try files.tier { $0.clock = time }
        let soon = time.now.advanced(bySeconds: 10)
        let later = time.now.advanced(bySeconds: 20)
        try await tier?.set("key", [1])
        try await tier?.set("tagged", [2], tags: ["t", "u"])
        try await tier?.set("soon", [3], expires: soon)
        try await tier?.set("later", [4], expires: later)
        try await tier?.remove(.keys([Array("key".utf8), Array("none".utf8)]))
        try await tier?.remove(.tag("t"))
        try await tier?.remove(.expired(by: soon))
        try await tier?.set("new", [5], tags: ["t"])
        for _ in 0..<2 {
            #expect(try await tier?.value("key") == nil)
            #expect(try await tier?.value("tagged") == nil)
            #expect(try await tier?.value("soon") == nil)
            #expect(try await tier?.value("later") == [4])
            #expect(try await tier?.value("new") == [5])
            tier = nil
            tier = try files.tier { $0.clock = time }
        }
        await clock.advance(by: .seconds(20))
        #expect(try await tier?.value("later") == nil)
        try await tier?.remove(.everything)
        #expect(try await tier?.value("new") == nil)
        #expect(try await tier?.usage().entryCount == 0)
        tier = nil
        tier = try files.tier { $0.clock = time }
        #expect(try await tier?.value("new") == nil)
        try await tier?.set("after", [6])
        #expect(try await tier?.value("after") == [6])
    }

    @Test("Removing everything frees its space")
    func room() async throws {
        let folder = DiskFolder()
        let tier = try folder.tier(limit: 8 << 20)
        for number in 0..<200 { try await tier.set("\(number)", bytes(20_000)) }
        try await tier.set("large", bytes(300_000))
        #expect(try await tier.usage().byteCount > 4_000_000)
        try await tier.remove(.everything)
        #expect(try await tier.usage().byteCount < 200_000)
        let onDisk = try folder.contents().values.reduce(0) { $0 + $1.count }
        #expect(onDisk < 200_000)
    }

    @Test("A second opener is rejected until the first has closed the folder")
    func twoOpeners() async throws {
        let folder = DiskFolder()
        var first: DiskCacheTier? = try folder.tier()
        try await first?.set("a", [1])
        let refused = await cacheError { _ = try folder.tier() }
        #expect(refused?.code == .folderInUse)
        await first?.close()
        let second = try folder.tier()
        #expect(try await second.value("a") == [1])
        #expect(await cacheError { _ = try await first?.value("a") }?.code == .unavailable)
        #expect(await cacheError { try await first?.set("a", [2]) }?.code == .unavailable)
        #expect(await cacheError { try await first?.flush() }?.code == .unavailable)
        #expect(await cacheError { _ = try await first?.usage() }?.code == .unavailable)
        #expect(await cacheError { _ = try await first?.makeFile() }?.code == .unavailable)
        await first?.close()
        first = nil
        #expect(try await second.value("a") == [1])
    }

    @Test("Values with an unknown compression are missing, and others are unchanged")
    func compression() async throws {
        let folder = DiskFolder()
        // Stores only the first byte of values that repeat one.
        let runs = CacheCompression(identifier: 9) { bytes in
            Set(bytes).count == 1 ? [bytes[0]] : nil
        } expand: { bytes, count in
            Array(repeating: bytes[0], count: count)
        }
        var tier: DiskCacheTier? = try folder.tier(limit: 8 << 20) { $0.compression = runs }
        try await tier?.set("run", Array(repeating: 3, count: 200_000))
        try await tier?.set("other", bytes(1000))
        try await tier?.set("large", bytes(200_000))
        #expect(try await tier?.value("run") == Array(repeating: 3, count: 200_000))
        #expect(try await tier?.value("large") == bytes(200_000))
        #expect(try await (tier?.usage().byteCount ?? 0) < 300_000)
        await tier?.close()
        tier = try folder.tier(limit: 8 << 20)
        #expect(try await tier?.value("run") == nil)
        #expect(try await tier?.value("other") == bytes(1000))
        #expect(try await tier?.value("large") == bytes(200_000))
    }

    @Test("Limits and keys out of bounds are rejected")
    func bounds() async throws {
        let refused = await cacheError { _ = try DiskFolder().tier(limit: 1000) }
        #expect(refused?.code == .invalidArgument)
        let tier = try DiskFolder().tier()
        let key = String(repeating: "k", count: 65_536)
        #expect(await cacheError { try await tier.set(key, [1]) }?.code == .invalidArgument)
        let tags = ["\(key)"]
        #expect(
            await cacheError { try await tier.set("a", [1], tags: tags) }?.code == .invalidArgument
        )
        #expect(try await tier.usage().entryCount == 0)
    }

    @Test("Foreign files are left alone")
    func strangers() async throws {
        let folder = DiskFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for name in ["notes.txt", "0000000g.segment", "1.value", "photo.part"] {
            try Data("mine".utf8).write(to: folder.url.appending(path: name))
        }
        for name in ["0123456789abcdef.value", "0123456789abcdef.part", "index.part"] {
            try Data("left".utf8).write(to: folder.url.appending(path: name))
        }
        let tier = try folder.tier()
        try await tier.set("a", [1])
        try await tier.remove(.everything)
        let kept = try folder.contents().filter {
            String(decoding: $0.value, as: UTF8.self) == "mine"
        }
        #expect(kept.count == 4)
        #expect(try !folder.contents().values.contains(Data("left".utf8)))
    }
}
