import Foundation
import KeelCache
import KeelCore
import KeelTestSupport
import Testing

@Suite("Disk failures in the disk tier")
struct DiskFaultTests {
    @Test("A full disk throws a typed error and keeps the old entries; removals still work")
    func fullDisk() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier()
        for number in 0..<20 { try await tier.set("\(number)", bytes(1000, seed: number)) }
        files.limit(to: files.disk.byteCount + 300)
        let error = await cacheError { try await tier.set("new", bytes(1000)) }
        #expect(error?.code == .diskFull)
        let large = await cacheError { try await tier.set("3", bytes(100_000)) }
        #expect(large?.code == .diskFull)
        #expect(try await tier.value("new") == nil)
        for number in 0..<20 {
            #expect(try await tier.value("\(number)") == bytes(1000, seed: number))
        }
        files.limit(to: files.disk.byteCount)
        try await tier.remove(.keys([Array("4".utf8)]))
        #expect(try await tier.value("4") == nil)
        #expect([nil, bytes(1000, seed: 5)].contains(try await tier.value("5")))
        files.limit(to: nil)
        try await tier.set("new", [1])
        let left = try SimulatedFileSystem(files.disk).tier()
        #expect(try await left.value("new") == [1])
        #expect(try await left.value("4") == nil)
        #expect(try await left.usage().damagedCount == 0)
    }

    @Test("A removal on a full disk takes its space from the oldest entries")
    func removalOnFullDisk() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 1 << 20) { $0.segmentByteCount = 4096 }
        for number in 0..<20 { try await tier.set("\(number)", bytes(900, seed: number)) }
        files.limit(to: files.disk.byteCount)
        try await tier.remove(.keys([Array("19".utf8)]))
        try await tier.remove(.tag("none"))
        try await tier.remove(.everything)
        #expect(try await tier.usage().entryCount == 0)
        let left = try SimulatedFileSystem(files.disk).tier()
        #expect(try await left.value("18") == nil)
    }

    @Test("An unwritable folder is rejected, and so is a write without permission")
    func permissions() async throws {
        let files = SimulatedFileSystem()
        let denied: @Sendable (FileCall) -> Int32? = { _ in FileSystemError.notPermitted }
        files.fail(denied)
        let refused = await cacheError { _ = try files.tier() }
        #expect(refused?.code == .permissionDenied)
        files.fail { if case .names = $0 { FileSystemError.notPermitted } else { nil } }
        let unread = await cacheError { _ = try files.tier() }
        #expect(unread?.code == .permissionDenied)
        files.fail(nil)
        let tier = try files.tier()
        files.fail(denied)
        #expect(await cacheError { try await tier.set("a", [1]) }?.code == .permissionDenied)
        #expect(await cacheError { _ = try await tier.makeFile() }?.code == .permissionDenied)
        files.fail(nil)
        try await tier.set("a", [1])
        #expect(try await tier.value("a") == [1])
    }

    @Test("A failed read is a miss and counts as damage")
    func readErrors() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier()
        try await tier.set("a", [1])
        try await tier.set("b", [2])
        files.fail { if case .read = $0 { FileSystemError.inputOutput } else { nil } }
        #expect(try await tier.value("a") == nil)
        files.fail(nil)
        #expect(try await tier.value("b") == [2])
        #expect(try await tier.usage().damagedCount == 1)
        // Once removed, a dropped entry does not return at a later opening.
        try await tier.remove(.keys([Array("a".utf8)]))
        let left = try SimulatedFileSystem(files.disk).tier()
        #expect(try await left.value("a") == nil)
    }

    @Test("A folder with unreadable contents is started anew")
    func unreadable() async throws {
        let files = SimulatedFileSystem()
        var tier: DiskCacheTier? = try files.tier()
        try await tier?.set("a", [1])
        await tier?.close()
        tier = nil
        files.fail { call in
            switch call {
            case .names, .read: FileSystemError.inputOutput
            default: nil
            }
        }
        tier = try files.tier()
        files.fail(nil)
        #expect(try await tier?.usage().damagedCount == 1)
        try await tier?.set("b", [2])
        #expect(try await tier?.value("b") == [2])
    }

    @Test(
        "The tier continues with an empty folder if its folder is deleted",
        arguments: [false, true]
    )
    func vanished(isLarge: Bool) async throws {
        let folder = DiskFolder()
        let tier = try folder.tier(limit: 8 << 20)
        try await tier.set("old", [1])
        try await tier.set("large", bytes(200_000))
        let file = try #require(try await tier.makeFile())
        try file.append(bytes(100_000))
        try FileManager.default.removeItem(at: folder.url)
        #expect([nil, [1]].contains(try await tier.value("old")))
        #expect(try await tier.value("large") == nil)
        try await tier.set("new", isLarge ? bytes(200_000) : [2])
        #expect(try await tier.value("old") == nil)
        #expect(try await tier.value("new") == (isLarge ? bytes(200_000) : [2]))
        let refused = await cacheError { _ = try folder.tier() }
        #expect(refused?.code == .folderInUse)
        #expect(try await tier.usage().entryCount == 1)
        await tier.close()
        let again = try folder.tier(limit: 8 << 20)
        #expect(try await again.value("new") == (isLarge ? bytes(200_000) : [2]))
        #expect(try await again.value("old") == nil)
    }

    @Test("A snapshot that was deleted with its folder does not count")
    func vanishedSnapshot() async throws {
        let folder = DiskFolder()
        let first = try folder.tier()
        for number in 0..<100 { try await first.set("\(number)", [1]) }
        await first.close()
        let tier = try folder.tier()
        try FileManager.default.removeItem(at: folder.url)
        try await tier.set("a", [1])
        let onDisk = try folder.contents().values.reduce(0) { $0 + $1.count }
        #expect(try await tier.usage().byteCount == onDisk)
    }

    @Test("A folder deleted before the first write is created again")
    func vanishedEarly() async throws {
        let folder = DiskFolder()
        let tier = try folder.tier()
        try FileManager.default.removeItem(at: folder.url)
        let file = try #require(try await tier.makeFile())
        try file.append([1, 2])
        try FileManager.default.removeItem(at: folder.url)
        try await tier.set("a", [1])
        #expect(try await tier.value("a") == [1])
        #expect(try folder.names().contains { $0.hasSuffix(".segment") })
    }

    @Test("A folder deleted before the first write is left to a tier that has created it again")
    func vanishedEarlyAndTaken() async throws {
        let folder = DiskFolder()
        let first = try folder.tier()
        try FileManager.default.removeItem(at: folder.url)
        let second = try folder.tier()
        try await second.set("a", [1])
        let refused = await cacheError { try await first.set("b", [2]) }
        #expect(refused?.code == .folderInUse)
        await second.close()
        let third = try folder.tier()
        #expect(try await third.value("a") == [1])
        await third.close()
        try await first.set("b", [2])
        #expect(try await first.value("b") == [2])
    }

    @Test("A tier that is closed leaves a folder alone that another one has created again")
    func closedWhenTaken() async throws {
        let folder = DiskFolder()
        let first = try folder.tier()
        try await first.set("a", [1])
        try FileManager.default.removeItem(at: folder.url)
        let second = try folder.tier()
        try await second.set("b", [2])
        await second.close()
        let contents = try folder.contents()
        await first.close()
        #expect(try folder.contents() == contents)
    }

    @Test("A tier whose folder another one has created again waits for it, and then starts over")
    func vanishedAndTaken() async throws {
        let folder = DiskFolder()
        let first = try folder.tier()
        try await first.set("a", [1])
        try FileManager.default.removeItem(at: folder.url)
        let second = try folder.tier()
        try await second.set("b", [2])
        let refused = await cacheError { try await first.set("a", [3]) }
        #expect(refused?.code == .folderInUse)
        await second.close()
        let third = try folder.tier()
        #expect(try await third.value("b") == [2])
        await third.close()
        try await first.set("a", [3])
        await first.close()
        let last = try folder.tier()
        #expect(try await last.value("a") == [3])
        #expect(try await last.value("b") == nil)
    }

    @Test("Damaged bytes of a large value are a miss for bytes and a typed error for a file")
    func damagedLargeValues() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier()
        try await tier.set("bytes", bytes(100_000))
        let writer = try #require(try await tier.makeFile())
        try writer.append(bytes(150_000))
        var entry = record("file", [])
        entry.body = .file(try writer.finish())
        try await tier.write([entry])
        var disk = files.disk
        for path in disk.paths.keys where path.hasSuffix(".value") { disk[path]?[70_000] ^= 4 }
        files.disk = disk
        #expect(try await tier.value("bytes") == nil)
        let body = try #require(try await tier.read(entry.key)?.body)
        guard case .file(let file) = body
        else { return fail("a value that was written as a file came back as bytes") }
        #expect(try file.read(from: 0, upTo: 60_000) == Array(bytes(150_000)[..<60_000]))
        let error = await cacheError { _ = try file.read(from: 65_000, upTo: 1000) }
        #expect(error?.code == .damaged)
    }

    @Test("Older segments are removed durably before a segment with removals")
    func orderOfRemoval() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 32 << 10)
        let fill = { (name: String) async throws in
            for number in 0..<20 { try await tier.set("\(name)-\(number)", bytes(900)) }
        }
        try await tier.set("removed", [1])
        try await fill("a")
        let holder = files.disk.paths.keys.filter { $0.hasSuffix(".segment") }.max() ?? ""
        try await tier.remove(.keys([Array("removed".utf8)]))
        try await tier.flush()
        for name in ["b", "c", "d", "e"] { try await fill(name) }
        // Whatever names survive a power failure, the first segment cannot return alone.
        var isOlderUnsafe = false
        var hasGone = false
        for step in files.steps {
            switch step {
            case .remove(let path) where path == holder:
                hasGone = true
                #expect(!isOlderUnsafe)
            case .remove(let path) where path.hasSuffix(".segment") && path < holder:
                isOlderUnsafe = true
            case .syncFolder: isOlderUnsafe = false
            default: break
            }
        }
        #expect(hasGone)
    }

    @Test("A failed snapshot loses nothing")
    func failingSnapshot() async throws {
        let files = SimulatedFileSystem()
        files.fail { call in call.path.hasSuffix("index.part") ? FileSystemError.inputOutput : nil }
        let tier = try files.tier { $0.segmentByteCount = 4096 }
        for number in 0..<100 { try await tier.set("\(number)", bytes(300, seed: number)) }
        await tier.close()
        #expect(files.disk["/cache/index.snapshot"] == nil)
        let left = try SimulatedFileSystem(files.disk).tier()
        #expect(try await left.usage().entryCount == 100)
        #expect(try await left.value("99") == bytes(300, seed: 99))
    }
}
