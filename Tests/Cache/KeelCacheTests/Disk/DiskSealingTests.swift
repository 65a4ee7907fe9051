import Foundation
import KeelCache
import KeelCore
import KeelTestSupport
import Testing

@Suite("Sealing of the disk tier")
struct DiskSealingTests {
    private static let planted = "the planted secret in plain text"

    @Test("No key, value or tag is readable in the folder")
    func plaintext() async throws {
        for isSealed in [false, true] {
            let folder = DiskFolder()
            let tier = try folder.tier(limit: 4 << 20) {
                $0.sealing = isSealed ? FakeByteSealing(key: 5) : nil
            }
            let value = Array(String(repeating: Self.planted, count: 8000).utf8)
            try await tier.set("key \(Self.planted)", [1])
            try await tier.set("value", Array(Self.planted.utf8))
            try await tier.set("tag", [2], tags: [Self.planted])
            try await tier.set("large", value)
            _ = try await DiskFileTests.write("file", value, to: tier)
            try await tier.remove(.tag(Self.planted))
            try await tier.remove(.keys([Array("key \(Self.planted)".utf8)]))
            await tier.close()
            let contents = try folder.contents()
            let needle = Data(Self.planted.utf8)
            let leaks = contents.filter { $0.value.range(of: needle) != nil }.keys.sorted()
            // Without sealing, the search must find the text.
            #expect(leaks.isEmpty == isSealed, "\(leaks)")
            let again = try folder.tier(limit: 4 << 20) {
                $0.sealing = isSealed ? FakeByteSealing(key: 5) : nil
            }
            #expect(try await again.value("value") == Array(Self.planted.utf8))
            #expect(try await again.value("large") == value)
            #expect(try await again.value("file") == value)
            #expect(try await again.value("tag") == nil)
        }
    }

    @Test("Another key finds nothing, and a folder of the other kind is emptied")
    func keys() async throws {
        let files = SimulatedFileSystem()
        var tier: DiskCacheTier? = try files.tier { $0.sealing = FakeByteSealing(key: 1) }
        try await tier?.set("a", [1])
        await tier?.close()
        tier = try files.tier { $0.sealing = FakeByteSealing(key: 2) }
        #expect(try await tier?.value("a") == nil)
        await tier?.close()
        tier = try files.tier { $0.sealing = FakeByteSealing(key: 1) }
        #expect(try await tier?.value("a") == [1])
        await tier?.close()
        tier = try files.tier()
        #expect(try await tier?.usage().entryCount == 0)
        #expect(!files.disk.paths.keys.contains { $0.hasSuffix(".segment") })
    }

    @Test("Truncated, swapped or foreign pieces of a value are rejected", arguments: [false, true])
    func pieces(isSealed: Bool) async throws {
        let stride = 65_536 + 12 + (isSealed ? 128 : 0)
        let changes: [@Sendable (inout [UInt8], [UInt8]) -> Void] = [
            { file, _ in file.removeLast(file.count - 32 - stride) },
            { file, _ in
                let first = Array(file[32..<32 + stride])
                file.replaceSubrange(32..<32 + stride, with: file[32 + stride..<32 + 2 * stride])
                file.replaceSubrange(32 + stride..<32 + 2 * stride, with: first)
            },
            { file, other in file.replaceSubrange(32..<32 + stride, with: other[32..<32 + stride])
            },
        ]
        for change in changes {
            let files = SimulatedFileSystem()
            let tier = try files.tier(limit: 4 << 20) {
                $0.sealing = isSealed ? FakeByteSealing(key: 1) : nil
            }
            _ = try await DiskFileTests.write("other", bytes(200_000), to: tier)
            let others = Set(files.disk.paths.keys)
            let entry = try await DiskFileTests.write("a", bytes(200_000), to: tier)
            var disk = files.disk
            let otherPath = try #require(others.first { $0.hasSuffix(".value") })
            let path = try #require(
                disk.paths.keys.first { $0.hasSuffix(".value") && !others.contains($0) }
            )
            var content = try #require(disk[path])
            change(&content, try #require(disk[otherPath]))
            disk[path] = content
            files.disk = disk
            let body = try #require(try await tier.read(entry.key)).body
            #expect(await cacheError { _ = try body.bytes() }?.code == .damaged)
        }
    }

    @Test("A failed sealing throws a typed error, and existing entries stay")
    func failing() async throws {
        let files = SimulatedFileSystem()
        let sealing = RefusingByteSealing()
        let tier = try files.tier { $0.sealing = sealing }
        try await tier.set("a", [1])
        sealing.isAbsent = true
        #expect(await cacheError { try await tier.set("b", [2]) }?.code == .sealingFailed)
        #expect(await cacheError { _ = try await tier.value("a") }?.code == .sealingFailed)
        sealing.isAbsent = false
        #expect(try await tier.value("a") == [1])
    }
}
