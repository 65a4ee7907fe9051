#if os(Linux) || os(macOS)
import Foundation
import KeelTestSupport
import Testing

@testable import KeelCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Files on disk", .timeLimit(.minutes(1)))
final class DiskFileSystemTests {
    private let folder: String

    init() throws { folder = try URL.makeTemporaryFolder().path }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
    }

    @Test(
        "A pipe and a folder are refused at once",
        arguments: [FileAccess.reading, .writing, .appending]
    )
    func noFile(access: FileAccess) throws {
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        for path in [folder + "/pipe", folder] {
            let error = #expect(throws: FileSystemError.self) {
                _ = try DiskFileSystem().open(path, for: access)
            }
            #expect(error?.isNotAFile == true)
            #expect(error?.description.contains("not a regular file") == true)
        }
    }

    @Test("Calls that can create a file do not follow links, and reading does")
    func links() throws {
        let files = DiskFileSystem()
        let (target, link) = (folder + "/target", folder + "/link")
        try files.open(target, for: .creating).write([1], at: 0)
        #expect(symlink(target, link) == 0 && symlink(folder + "/other", folder + "/loose") == 0)
        for path in [link, folder + "/loose"] {
            let appending = #expect(throws: FileSystemError.self) {
                _ = try files.open(path, for: .appending)
            }
            #expect(appending?.isNotAFile == true)
            let creating = #expect(throws: FileSystemError.self) {
                _ = try files.open(path, for: .creating)
            }
            #expect(creating?.kind == .exists)
            let locking = #expect(throws: FileSystemError.self) { _ = try files.lock(path) }
            #expect(locking?.isNotAFile == true)
        }
        #expect(try files.names(in: folder).sorted() == ["link", "loose", "target"])
        #expect(try files.open(link, for: .reading).read(at: 0, count: 1) == [1])
        // A parent folder may be a link, because the caller has chosen it.
        #expect(symlink(folder, folder + "/again") == 0)
        _ = try files.open(folder + "/again/log", for: .appending)
        #expect(try files.names(in: folder).contains("log"))
    }

    @Test(
        "Created folders can be entered by those who may read the files",
        arguments: [(0o600, 0o700), (0o640, 0o750), (0o664, 0o775)] as [(UInt16, Int)]
    )
    func permissions(ofFiles: UInt16, ofFolders: Int) throws {
        let mask = umask(0o022)
        umask(mask)
        let files = DiskFileSystem(permissions: ofFiles)
        let made = folder + "/a/b/c"
        try files.makeFolder(made)
        try files.makeFolder(made)
        _ = try files.open(made + "/file", for: .appending)
        #expect(try mode(made + "/file") == Int(ofFiles) & ~Int(mask))
        for path in ["/a", "/a/b", "/a/b/c"] {
            #expect(try mode(folder + path) == ofFolders & ~Int(mask))
        }
    }

    @Test("A replaced file keeps its permissions and, as root, its owner, if that is asked for")
    func replacement() throws {
        let files = DiskFileSystem()
        let path = folder + "/file"
        let owner = geteuid() == 0 ? 1 : geteuid()
        for keepsAccess in [true, false] {
            try files.replaceFile(path, by: path + ".new", with: [1], keepsAccess: keepsAccess)
            #expect(try mode(path) == 0o600)
            #expect(chmod(path, 0o640) == 0 && chown(path, owner, gid_t.max) == 0)
            try files.replaceFile(path, by: path + ".new", with: [2], keepsAccess: keepsAccess)
            #expect(try mode(path) == (keepsAccess ? 0o640 : 0o600))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_uid == (keepsAccess ? owner : geteuid()))
            #expect(try files.contents(of: path) == [2])
            try files.remove(path)
        }
    }

    @Test("Creating a folder below a file fails with a clear error")
    func folderBelowFile() throws {
        let files = DiskFileSystem()
        _ = try files.open(folder + "/file", for: .creating)
        let error = #expect(throws: FileSystemError.self) {
            try files.makeFolder(folder + "/file/below/it")
        }
        #expect(error?.kind == .notFound)
    }

    @Test("A released lock is free at once, although a process being started has its descriptor")
    func releases() throws {
        let files = DiskFileSystem()
        let path = folder + "/lock"
        var lock: (any FileLock)? = try files.lock(path)
        try whileCopied(path) {
            #expect(lock?.isStill(at: path) == true)
            lock = nil
            _ = try files.lock(path)
        }
        var file: (any OpenFile)? = try files.open(path, for: .appending)
        try whileCopied(path) {
            let error = #expect(throws: FileSystemError.self) { _ = try files.lock(path) }
            #expect(error?.kind == .busy)
            #expect(try file?.size() == 0)
            file = nil
            _ = try files.lock(path)
        }
    }

    /// Copies the descriptor of an open file, as the start of a process does.
    private func whileCopied(_ path: String, _ body: () throws -> Void) throws {
        var named = stat()
        try #require(stat(path, &named) == 0)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
            .compactMap { Int32($0) }
        let open = descriptors.filter { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_ino == named.st_ino
                && status.st_dev == named.st_dev
        }
        try #require(open.count == 1)
        let copy = dup(open[0])
        defer { close(copy) }
        try body()
    }
}
#endif
