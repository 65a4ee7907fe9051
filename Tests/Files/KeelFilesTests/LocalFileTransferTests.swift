import Foundation
import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelFiles

@Suite("Transfers between local files and a store")
struct LocalFileTransferTests {
    private let scratch: TemporaryFolder
    private let files = FileStore(InMemoryFileStoreAdapter())

    init() throws { scratch = try TemporaryFolder() }

    private func url(_ name: String) -> URL { URL(filePath: scratch.path + "/" + name) }

    @Test("A file is uploaded and downloaded unchanged, with progress")
    func thereAndBack() async throws {
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try bytes.write(to: url("in"))
        let steps = Mutex<[FileProgress]>([])
        try await files.write(contentsOf: url("in"), to: "a/in.bin") { step in
            steps.withLock { $0.append(step) }
        }
        #expect(steps.withLock { $0.last } == FileProgress(byteCount: 700_000, total: 700_000))
        #expect(steps.withLock { $0.last?.fraction } == 1)
        steps.withLock { $0 = [] }
        try await files.download("a/in.bin", to: url("out")) { step in
            steps.withLock { $0.append(step) }
        }
        #expect(steps.withLock { $0.last?.byteCount } == 700_000)
        #expect(try Data(contentsOf: url("out")) == bytes)
    }

    @Test("A failed download keeps the existing file and leaves no other")
    func failingDownload() async throws {
        try Data("old".utf8).write(to: url("out"))
        await expectError(FileStoreError.self, .fileNotFound) {
            try await files.download("missing", to: url("out"))
        }
        #expect(try Data(contentsOf: url("out")) == Data("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["out"])
    }

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: url(name).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("A download has the permissions of the file that it replaces", arguments: [0o644, 0o600])
    func permissions(of replaced: Int) async throws {
        try await files.write(Data([1]), to: "a")
        try Data([2]).write(to: url("out"))
        try FileManager.default.setAttributes(
            [.posixPermissions: replaced],
            ofItemAtPath: url("out").path
        )
        try await files.download("a", to: url("out"))
        #expect(try mode("out") == replaced)
        #expect(try Data(contentsOf: url("out")) == Data([1]))
    }

    @Test("A download of a new file has the default permissions")
    func defaultPermissions() async throws {
        let mask = umask(0o022)
        umask(mask)
        try await files.write(Data([1]), to: "a")
        try await files.download("a", to: url("out"))
        #expect(try mode("out") == 0o666 & ~Int(mask))
    }

    @Test("A download removes the remains of a killed process, and not what another one writes")
    func remains() async throws {
        try await files.write(Data([1, 2, 3]), to: "a")
        let part = url(".out.keel-part-0")
        try Data([9, 9, 9, 9]).write(to: part)
        try await files.download("a", to: url("out"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["out"])
        #expect(try Data(contentsOf: url("out")) == Data([1, 2, 3]))
        // Another process may write for days, or the clock may leap.
        let lock = try DiskFileSystem().lock(part.path)
        try Data([9]).write(to: part)
        let longAgo = Date(timeIntervalSinceNow: -7 * 86_400)
        try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: part.path)
        try await files.download("a", to: url("out"))
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(names.sorted() == [".out.keel-part-0", "out"])
        #expect(try Data(contentsOf: part) == Data([9]))
        #expect(lock.isStill(at: part.path))
    }

    @Test("A download leaves files of the user alone, whatever their names look like")
    func namesOfUsers() async throws {
        let names = ["out", "out.part", "out.part-0", "out.part-1"]
        for name in names { try await files.write(Data(name.utf8), to: "\(name)") }
        for name in names.reversed() { try await files.download("\(name)", to: url(name)) }
        try await files.download("out", to: url("out"))
        for name in names { #expect(try Data(contentsOf: url(name)) == Data(name.utf8)) }
    }

    @Test("A file with the longest name of a volume is downloaded, beside another download to it")
    func longestName() async throws {
        let name = String(repeating: "é", count: 127) + "x"
        try await files.write(Data([1]), to: "a")
        try await files.download("a", to: url(name))
        let lock = try DiskFileSystem().lock(
            url(".\(String(repeating: "é", count: 100)).keel-part-0").path
        )
        try await files.download("a", to: url(name))
        #expect(try Data(contentsOf: url(name)) == Data([1]))
        withExtendedLifetime(lock) {}
    }

    @Test("A finished download survives a power failure")
    func powerFailure() async throws {
        let disk = SimulatedFileSystem()
        let file = URL(filePath: "/folder/out")
        try await LocalFileTransfer.write(FileContent([1, 2, 3] as [UInt8]), to: file, in: disk)
        var random = SeededRandom(seed: SeededRandom.printedSeed())
        for _ in 0..<20 {
            let left = disk.disk(afterPowerFailureAt: disk.steps.count, using: &random)
            #expect(left["/folder/out"] == [1, 2, 3])
        }
    }

    @Test("Uploading a missing file and downloading to a missing folder fail")
    func missing() async throws {
        await expectError(FileStoreError.self, .sourceFailed) {
            try await files.write(contentsOf: url("none"), to: "a")
        }
        try await files.write(Data("x".utf8), to: "a")
        await expectError(FileStoreError.self, .writeFailed) {
            try await files.download("a", to: url("none/out"))
        }
    }
}
