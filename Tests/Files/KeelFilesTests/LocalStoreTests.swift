#if os(Linux) || os(macOS)
import KeelTestSupport
import Foundation
import KeelFiles
import Testing

@Suite("Local store shared with other programs", .timeLimit(.minutes(2)))
struct LocalStoreTests {
    private let scratch: TemporaryFolder
    private let files: FileStore

    init() throws {
        scratch = try TemporaryFolder()
        files = FileStore(try LocalFileStoreAdapter(folder: scratch.path + "/store"))
    }

    private func place(_ name: String) -> String { scratch.path + "/store/" + name }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: place(name)))
    }

    private func code(_ call: () async throws -> Void) async -> FileStoreError.Code? {
        do {
            try await call()
            return nil
        } catch { return (error as? FileStoreError)?.code }
    }

    @Test("A file that another program created belongs to the store")
    func strangers() async throws {
        try write("hello", "b.txt")
        let metadata = try await files.metadata(of: "b.txt")
        #expect(metadata.size == 5)
        #expect(metadata.contentType == "text/plain")
        #expect(metadata.checksum == nil)
        #expect(try await files.read("b.txt") == Data("hello".utf8))
        #expect(try await files.list().files.map(\.path) == ["b.txt"])
        try await files.delete("b.txt", if: .version(metadata.version))
        #expect(!FileManager.default.fileExists(atPath: place("b.txt")))
    }

    @Test("A file that another program changes gets a new version and loses its checksum")
    func changed() async throws {
        let put = try await files.write(
            Data("hello".utf8),
            to: "a",
            options: .init(contentType: "x/y")
        )
        let handle = try FileHandle(forWritingTo: URL(filePath: place("a")))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(" world".utf8))
        try handle.close()
        let metadata = try await files.metadata(of: "a")
        #expect(metadata.version != put.version)
        #expect(metadata.checksum == nil)
        #expect(metadata.contentType == "x/y")
        #expect(try await files.read("a") == Data("hello world".utf8))
        let code = await code { try await files.delete("a", if: .version(put.version)) }
        #expect(code == .conditionFailed)
    }

    @Test("Silently changed bytes are detected when the whole file is read")
    func damaged() async throws {
        let put = try await files.write(Data(repeating: 1, count: 5000), to: "a")
        try #require(put.checksum != nil, "the volume keeps no extended attributes")
        // Like a failing disk, which leaves the size and the time unchanged.
        let path = place("a")
        let time = try #require(
            try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        )
        _ = time
        try await Self.flipByte(of: path)
        let code = await code { _ = try await files.read("a") }
        #expect(code == .damaged)
        // A part is not compared with the checksum of the whole.
        #expect(try await files.read("a", range: .last(10)).count == 10)
        var trusting = LocalFileStoreAdapter.Configuration()
        trusting.verifiesChecksums = false
        let other = FileStore(
            try LocalFileStoreAdapter(folder: scratch.path + "/store", configuration: trusting)
        )
        #expect(try await other.read("a").count == 5000)
    }

    /// Changes a byte and restores the time, to the nanosecond.
    private static func flipByte(of path: String) async throws {
        let script = """
            import os, sys
            path = sys.argv[1]
            status = os.stat(path)
            with open(path, "r+b") as file:
                file.write(b"\\x02")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            """
        let arguments = ["python3", "-c", script, path]
        let run = try await ProgramRun(URL(filePath: "/usr/bin/env"), arguments)
        try #require(run.exitCode == 0, "\(run.errors)")
    }

    @Test("Links to files and folders are never followed")
    func links() async throws {
        let outside = scratch.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(filePath: outside + "/file"))
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: place("file"),
            withDestinationPath: outside + "/file"
        )
        try manager.createSymbolicLink(atPath: place("folder"), withDestinationPath: outside)
        let paths: [FileStorePath] = [
            "file", "folder", "folder/file", "folder/new", "folder/\u{301}new",
        ]
        for path in paths {
            let codes = [
                await code { _ = try await files.read(path) },
                await code { try await files.write(Data("x".utf8), to: path) },
                await code { _ = try await files.metadata(of: path) },
                await code { try await files.delete(path) },
                await code { try await files.copy(path, to: "copy") },
            ]
            #expect(codes.allSatisfy { $0 == .notAFile }, "\(path) \(codes)")
        }
        #expect(try await files.list() == FilePage(files: []))
        #expect(try manager.contentsOfDirectory(atPath: outside) == ["file"])
        #expect(try String(contentsOfFile: outside + "/file", encoding: .utf8) == "secret")
    }

    @Test("A move to another link of the same file removes the source")
    func movedToLink() async throws {
        try write("x", "a")
        try FileManager.default.linkItem(atPath: place("a"), toPath: place("b"))
        try await files.move("a", to: "b")
        #expect(try await files.list().files.map(\.path) == ["b"])
        #expect(try await files.read("b") == Data("x".utf8))
    }

    #if os(Linux)
    @Test("A file that another program links into the folder is reported")
    func linked() async throws {
        let outside = scratch.path + "/outside"
        try Data("x".utf8).write(to: URL(filePath: outside))
        let changes = try await files.changes()
        try FileManager.default.linkItem(atPath: outside, toPath: place("a"))
        try await files.write(Data("y".utf8), to: "end")
        var told: [FileChange] = []
        for await change in changes {
            told.append(change)
            if change == .written("end") { break }
        }
        #expect(told.contains(.written("a")))
    }
    #endif

    @Test("An empty folder that another program created does not interfere")
    func emptyFolders() async throws {
        try FileManager.default.createDirectory(
            atPath: place("a/b"),
            withIntermediateDirectories: true
        )
        #expect(try await files.list(isRecursive: false) == FilePage(files: []))
        try await files.write(Data("x".utf8), to: "a/b/c")
        #expect(try await files.read("a/b/c") == Data("x".utf8))
        // The remains of a process that was killed while writing a file.
        try FileManager.default.createDirectory(
            atPath: place("d/e/f"),
            withIntermediateDirectories: true
        )
        try await files.write(Data("y".utf8), to: "d")
        #expect(try await files.read("d") == Data("y".utf8))
    }

    @Test("A store whose folder vanishes reports it and works again after reopening")
    func vanishes() async throws {
        try await files.write(Data("x".utf8), to: "a")
        try FileManager.default.removeItem(atPath: scratch.path + "/store")
        let code = await code { try await files.write(Data("y".utf8), to: "a") }
        #expect(code == .writeFailed)
        let again = FileStore(try LocalFileStoreAdapter(folder: scratch.path + "/store"))
        try await again.write(Data("y".utf8), to: "a")
        #expect(try await again.read("a") == Data("y".utf8))
    }

    @Test("A folder that cannot be created is reported when the store is opened")
    func unwritable() throws {
        try write("x", "file")
        let error = expectError(FileStoreError.self, .writeFailed) {
            try LocalFileStoreAdapter(folder: place("file/store"))
        }
        #expect(error?.message.contains("store") == true)
    }

    @Test("Capabilities are reported")
    func capabilities() {
        #expect(files.capabilities.isSuperset(of: [.persistent, .conditionsAcrossProcesses]))
        #expect(files.capabilities.contains(.survivesPowerFailure))
        #expect("\(files.capabilities)".contains("persistent"))
    }
}
#endif
