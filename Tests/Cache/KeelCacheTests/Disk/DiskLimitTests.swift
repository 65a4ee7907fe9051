import Foundation
import KeelCache
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Limits of the disk tier")
struct DiskLimitTests {
    @Test("Reads match the model or miss, and the limit always holds", arguments: 0..<6)
    func model(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        let limit = [16 << 10, 40_000, 200_000][round % 3]
        let files = SimulatedFileSystem()
        var tier: DiskCacheTier? = try files.tier(limit: limit) { configuration in
            configuration.sealing = round < 3 ? nil : FakeByteSealing(key: 3)
        }
        let segment = max(4096, limit / 8)
        var model: [String: [UInt8]] = [:]
        var hits = 0
        for number in 0..<400 {
            let key = "key-\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                try await tier?.remove(.keys([Array(key.utf8)]))
                model[key] = nil
            case 1 where number % 7 == 0:
                try await tier?.remove(.everything)
                model = [:]
            case 2 where number % 3 == 0:
                await tier?.close()
                tier = nil
                tier = try files.tier(limit: limit) { configuration in
                    configuration.sealing = round < 3 ? nil : FakeByteSealing(key: 3)
                }
            case 3..<10:
                let value = try await tier?.value(key)
                if value != nil { hits += 1 }
                let isRight = value == nil || value == model[key]
                #expect(isRight, "seed \(seed), step \(number), \(key)")
            default:
                let size = [100, 1000, 3000, 9000].randomElement(using: &random) ?? 0
                let value = bytes(Int.random(in: 0...size, using: &random), seed: number)
                try await tier?.set(key, value)
                model[key] = value
                let found = try await tier?.value(key)
                let isThere = found == nil || found == value
                #expect(isThere, "seed \(seed), step \(number)")
            }
            #expect(files.disk.byteCount <= limit + segment, "seed \(seed), step \(number)")
            let counted = try await tier?.usage().byteCount
            #expect(counted == files.disk.byteCount, "seed \(seed), step \(number)")
        }
        #expect(files.peakByteCount <= limit + segment, "seed \(seed)")
        #expect(hits > 5, "seed \(seed)")
    }

    @Test("Entries that are read stay longer than others")
    func reinsertion() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 64 << 10)
        for number in 0..<300 {
            try await tier.set("\(number)", bytes(500, seed: number))
            if number >= 2 { #expect(try await tier.value("2") == bytes(500, seed: 2)) }
        }
        #expect(try await tier.value("3") == nil)
        #expect(try await tier.value("299") == bytes(500, seed: 299))
        let usage = try await tier.usage()
        #expect(usage.evictionCount + usage.entryCount == 300)
    }

    @Test("A value that can never fit is dropped, and so is the previous value of its key")
    func tooLarge() async throws {
        let tier = try SimulatedFileSystem().tier(limit: 64 << 10)
        try await tier.set("a", [1])
        try await tier.set("b", [2])
        try await tier.set("a", bytes(100_000))
        #expect(try await tier.value("a") == nil)
        let writer = try #require(try await tier.makeFile())
        let error = await cacheError {
            for _ in 0..<10 { try writer.append(bytes(20_000)) }
        }
        #expect(error?.code == .tooLarge)
        #expect(try await tier.usage().byteCount < 10_000)
    }

    @Test("A value of known size that can never fit evicts no other entry")
    func tooLargeInVain() async throws {
        let tier = try SimulatedFileSystem().tier(limit: 64 << 10)
        for number in 0..<20 { try await tier.set("\(number)", bytes(1000, seed: number)) }
        // Without its header and the frame of its only piece, the value would fit.
        for size in [100_000, 64 << 10] { try await tier.set("0", bytes(size)) }
        let other = try SimulatedFileSystem().tier()
        let writer = try #require(try await other.makeFile())
        try writer.append(bytes(100_000))
        var large = record("0", [])
        large.body = .file(try writer.finish())
        try await tier.write([large])
        #expect(try await tier.value("0") == nil)
        for number in 1..<20 {
            #expect(try await tier.value("\(number)") == bytes(1000, seed: number))
        }
    }

    @Test("Large values are evicted one at a time, and recently read ones stay")
    func largeValues() async throws {
        let files = SimulatedFileSystem()
        var tier: DiskCacheTier? = try files.tier(limit: 1 << 20)
        for number in 0..<10 {
            try await tier?.set("\(number)", bytes(200_000, seed: number))
            #expect(try await tier?.value("0") == bytes(200_000, seed: 0))
        }
        #expect(try await tier?.value("9") == bytes(200_000, seed: 9))
        #expect(try await tier?.value("5") == nil)
        #expect(try await tier?.usage().entryCount == 5)
        #expect(files.peakByteCount <= 1 << 20 + 131_072)
        await tier?.close()
        tier = nil
        tier = try files.tier(limit: 1 << 20)
        #expect(try await tier?.usage().entryCount == 5)
        try await tier?.set("new", bytes(300_000))
        #expect(try await tier?.value("new") == bytes(300_000))
        #expect(try await tier?.usage().byteCount == files.disk.byteCount)
    }

    @Test("A batch that fails halfway keeps what it wrote and counts correctly")
    func halfABatch() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 2 << 20)
        let records =
            (0..<8).map { record("\($0)", bytes(100_000, seed: $0)) }
            + (0..<80).map { record("small-\($0)", bytes(8000, seed: $0)) }
        files.limit(to: 1_000_000)
        let error = await cacheError { try await tier.write(records) }
        #expect(error?.code == .diskFull)
        #expect(try await tier.usage().byteCount == files.disk.byteCount)
        for number in 0..<8 {
            let found = try await tier.value("\(number)")
            #expect(found == nil || found == bytes(100_000, seed: number))
        }
        #expect(try await tier.value("0") == bytes(100_000, seed: 0))
    }

    @Test("A lower limit applies from opening on")
    func lowerLimit() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 1 << 20)
        for number in 0..<500 { try await tier.set("\(number)", bytes(1000)) }
        await tier.close()
        let small = try files.tier(limit: 128 << 10)
        #expect(files.disk.byteCount <= 256 << 10)
        #expect(try await small.value("499") != nil)
        try await small.set("a", [1])
        #expect(files.disk.byteCount <= 128 << 10)
    }

    @Test("Unfinished values count toward the usage until they are released")
    func unfinished() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 1 << 20)
        let before = try await tier.usage().byteCount
        var writer = try await tier.makeFile()
        try writer?.append(bytes(300_000))
        #expect(try await tier.usage().byteCount > 200_000)
        writer = nil
        #expect(try await tier.usage().byteCount == before)
        writer = try await tier.makeFile()
        try writer?.append(bytes(300_000))
        var file = try writer?.finish()
        #expect(file?.count == 300_000)
        writer?.discard()
        #expect(try await tier.usage().byteCount > 200_000)
        file = nil
        #expect(try await tier.usage().byteCount == before)
        #expect(!files.disk.paths.keys.contains { $0.hasSuffix(".part") })
    }
}
