import Foundation
import KeelCache
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Large values of the disk tier")
struct DiskFileTests {
    @Test(
        "A file can be read in pieces from any offset",
        arguments: [0, 1, 65_536, 65_537, 200_000]
    )
    func pieces(count: Int) async throws {
        let tier = try DiskFolder().tier(limit: 4 << 20)
        let value = bytes(count)
        let entry = try await Self.write("a", value, to: tier)
        guard case .file(let file) = try #require(try await tier.read(entry.key)).body
        else { return fail("not a file") }
        #expect(file.count == count)
        var random = SeededRandom(seed: UInt64(count))
        for _ in 0..<40 {
            let offset = Int.random(in: 0...count, using: &random)
            let length = Int.random(in: 0...100_000, using: &random)
            let piece = try file.read(from: offset, upTo: length)
            let isRight = piece == Array(value[offset..<min(count, offset + length)])
            #expect(isRight, "\(length) at \(offset)")
        }
        #expect(try file.read(from: count + 5, upTo: 10) == [])
        #expect(try file.read(from: -1, upTo: 10) == [])
    }

    @Test("A file stays readable after its entry is removed and after the tier is closed")
    func held() async throws {
        let folder = DiskFolder()
        let tier = try folder.tier(limit: 4 << 20)
        let entry = try await Self.write("a", bytes(200_000), to: tier)
        let body = try await tier.read(entry.key)?.body
        try await tier.remove(.keys([entry.key]))
        #expect(try folder.names().allSatisfy { !$0.hasSuffix(".value") })
        #expect(try body?.bytes() == bytes(200_000))
        await tier.close()
        #expect(try body?.bytes() == bytes(200_000))
    }

    @Test("A file that was read can be written under another key")
    func copies() async throws {
        let tier = try DiskFolder().tier(limit: 4 << 20)
        var entry = try await Self.write("a", bytes(200_000), to: tier)
        entry.body = try #require(try await tier.read(entry.key)).body
        entry.key = Array("b".utf8)
        try await tier.write([entry])
        try await tier.remove(.keys([Array("a".utf8)]))
        #expect(try await tier.value("a") == nil)
        #expect(try await tier.value("b") == bytes(200_000))
        // The same writer's file twice: adopted first, then copied.
        let writer = try #require(try await tier.makeFile())
        try writer.append(bytes(70_000))
        let file = try writer.finish()
        entry.body = .file(file)
        var other = entry
        other.key = Array("c".utf8)
        try await tier.write([entry, other])
        try await tier.remove(.keys([entry.key]))
        #expect(try await tier.value("c") == bytes(70_000))
    }

    @Test("A finished writer accepts no more bytes")
    func ended() async throws {
        let tier = try DiskFolder().tier()
        let writer = try #require(try await tier.makeFile())
        try writer.append([1])
        _ = try writer.finish()
        #expect(await cacheError { try writer.append([2]) }?.code == .invalidArgument)
        #expect(await cacheError { _ = try writer.finish() }?.code == .invalidArgument)
    }

    @Test("Unfinished values left by a crash are removed when the folder is opened")
    func leftovers() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier()
        let writer = try #require(try await tier.makeFile())
        try writer.append(bytes(200_000))
        let left = SimulatedFileSystem(files.disk)
        #expect(left.disk.paths.keys.contains { $0.hasSuffix(".part") })
        let again = try left.tier()
        #expect(!left.disk.paths.keys.contains { $0.hasSuffix(".part") })
        #expect(try await again.usage().byteCount == left.disk.byteCount)
    }

    @Test("Replacing a large value removes its file")
    func replacing() async throws {
        let folder = DiskFolder()
        let tier = try folder.tier(limit: 4 << 20)
        for number in 0..<5 {
            try await tier.set("a", bytes(100_000, seed: number))
            #expect(try folder.names().count { $0.hasSuffix(".value") } == 1)
        }
        try await tier.set("a", [1])
        #expect(try folder.names().allSatisfy { !$0.hasSuffix(".value") })
        #expect(try await tier.value("a") == [1])
    }

    static func write(
        _ key: String,
        _ value: [UInt8],
        to tier: DiskCacheTier
    ) async throws -> CacheRecord {
        let writer = try #require(try await tier.makeFile())
        for start in stride(from: 0, to: value.count, by: 30_000) {
            try writer.append(Array(value[start..<min(value.count, start + 30_000)]))
        }
        var entry = record(key, [])
        entry.body = .file(try writer.finish())
        try await tier.write([entry])
        return entry
    }
}
