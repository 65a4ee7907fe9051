#if os(Linux) || os(macOS)
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import KeelAsyncHTTPClient
import KeelFileTools
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite(
    "The commands keel files sync, move, stat, du, cat and presign",
    .enabled(if: MotoServer.isPresent, MotoServer.absence),
    .timeLimit(.minutes(10))
)
struct FilesSyncTests: MotoTests {
    let moto: MotoFolder

    init() throws { moto = try MotoFolder() }

    /// Writes files whose contents are given, below a folder.
    private func tree(_ name: String, _ files: [String: String]) throws -> URL {
        let folder = scratch.file(name)
        for (names, text) in files {
            let file = folder.appending(path: names)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
            // Older than anything in the bucket.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
                ofItemAtPath: file.path
            )
        }
        return folder
    }

    @Test("A sync copies what differs, both ways, and nothing the second time")
    func bothWays() throws {
        let folder = try tree("a", ["x.txt": "x", "b/y.txt": "yy", "b/z.log": "zzz"])
        let first = try keel("sync", folder.path, root)
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output.hasSuffix("3 copied, 0 deleted, 0 unchanged\n"))
        let second = try keel("sync", folder.path, root)
        #expect(second.output == "0 copied, 0 deleted, 3 unchanged\n")
        // Another size, and the same size with a newer date.
        try Data("xx".utf8).write(to: folder.appending(path: "x.txt"))
        try Data("YY".utf8).write(to: folder.appending(path: "b/y.txt"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date.now.addingTimeInterval(60)],
            ofItemAtPath: folder.appending(path: "b/y.txt").path
        )
        let third = try keel("sync", folder.path, root)
        #expect(third.output.hasSuffix("2 copied, 0 deleted, 1 unchanged\n"))

        let back = scratch.file("back")
        #expect(
            try keel("sync", root, back.path).output.hasSuffix("3 copied, 0 deleted, 0 unchanged\n")
        )
        let text = try String(contentsOf: back.appending(path: "b/y.txt"), encoding: .utf8)
        #expect(text == "YY")
        #expect(try keel("sync", root, back.path).output == "0 copied, 0 deleted, 3 unchanged\n")
        let copy = "s3://second/\(UUID().uuidString)"
        #expect(try keel("sync", root, copy).output.hasSuffix("3 copied, 0 deleted, 0 unchanged\n"))
        #expect(try keel("sync", root, copy).output == "0 copied, 0 deleted, 3 unchanged\n")
        #expect(try keel("sync", root, root + "/inside").errors.contains("in one another"))
    }

    @Test("Unfinished downloads are neither copied nor deleted")
    func unfinished() throws {
        let folder = try tree("a", ["x": "x", "b/.y.keel-part-0": "unfinished"])
        let there = try keel("sync", folder.path, root)
        #expect(there.output.hasSuffix("1 copied, 0 deleted, 0 unchanged\n"), "\(there.errors)")
        let back = try keel("sync", root, folder.path, "--delete", "--yes")
        #expect(back.output.hasSuffix("1 copied, 0 deleted, 0 unchanged\n"), "\(back.errors)")
        let kept = folder.appending(path: "b/.y.keel-part-0").path
        #expect(FileManager.default.fileExists(atPath: kept))
    }

    #if os(Linux)
    @Test("Names of the same look are names of two files")
    func equalNames() throws {
        let folder = scratch.file("a")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["\u{E9}", "e\u{301}"] {
            // Older than anything in the bucket.
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            let isMade = FileManager.default.createFile(
                atPath: folder.path + "/" + name,
                contents: Data(name.utf8)
            )
            try #require(isMade)
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: folder.path + "/" + name
            )
        }
        let first = try keel("sync", folder.path, root)
        #expect(first.output.hasSuffix("2 copied, 0 deleted, 0 unchanged\n"), "\(first.errors)")
        let second = try keel("sync", folder.path, root, "--delete", "--yes")
        #expect(second.output == "0 copied, 0 deleted, 2 unchanged\n")
    }
    #endif

    @Test("Commands for all files of a folder name the keys that are not file paths")
    func unlistedKeys() throws {
        let (place, back) = ("s3://second/unnamed", scratch.file("back").path)
        let results = [
            try keel("list", place, "-r"), try keel("du", place),
            try keel("get", place, back, "-r"), try keel("sync", place, back),
            try keel("delete", place, "-r", "--yes"),
        ]
        for result in results {
            #expect(result.code == 2, "\(result.output)")
            #expect(
                result.errors.contains("“\(place)/a/” was left out: its key is not"),
                "\(result.errors)"
            )
        }
        #expect(results.last?.output == "1 file deleted\n")
        let json = try keel("du", place, "--json")
        #expect(json.errors.contains(#""about":"s3://second/unnamed/a/""#), "\(json.errors)")
    }

    @Test("With --checksum, files of the same size are compared by their bytes")
    func checksums() throws {
        let folder = try tree("a", ["x": "one", "y": "two"])
        #expect(try keel("sync", folder.path, root).code == 0)
        // The same size and an older date: only the bytes tell.
        _ = try tree("a", ["x": "ONE"])
        #expect(try keel("sync", folder.path, root).output.hasSuffix("2 unchanged\n"))
        let sync = try keel("sync", folder.path, root, "--checksum")
        #expect(sync.output.hasSuffix("1 copied, 0 deleted, 1 unchanged\n"))
        #expect(try keel("cat", "\(root)/x").output == "ONE")
    }

    @Test("Deleting is refused without --yes where nobody can be asked, and follows the patterns")
    func deletion() throws {
        let folder = try tree("a", ["x.txt": "x", "k.log": "k", "b/y.txt": "y"])
        #expect(try keel("sync", folder.path, root).code == 0)
        for name in ["x.txt", "k.log"] {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        let refused = try keel("sync", folder.path, root, "--delete")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("Add --yes to delete 2 files of “\(root)”"))
        #expect(try keel("du", root, "--json").output.contains(#""files":3"#))
        let dry = try keel("sync", folder.path, root, "--delete", "--dry-run")
        #expect(dry.output.contains("would delete \(root)/x.txt\n"))
        #expect(dry.output.hasSuffix("0 to copy, 2 to delete, 1 unchanged\n"))
        let sync = try keel("sync", folder.path, root, "--delete", "--yes", "--exclude", "*.log")
        #expect(sync.output == "deleted \(root)/x.txt\n0 copied, 1 deleted, 1 unchanged\n")
        #expect(try keel("list", root, "-r").output.contains("k.log"))
        // By checksum, since the bucket's copy may be a second newer than the file.
        let local = try keel(
            "sync",
            root,
            folder.path,
            "--checksum",
            "--include",
            "b/",
            "--delete",
            "-y"
        )
        #expect(local.output == "0 copied, 0 deleted, 1 unchanged\n")
        #expect(try keel("delete", root, "-r").errors.contains("Add --yes to delete all files"))
        #expect(try keel("delete", root, "-r", "-y").output == "2 files deleted\n")
    }

    @Test("A source without files deletes nothing without --allow-empty, even with --yes")
    func emptySources() throws {
        let folder = try tree("a", ["x": "x", "b/y": "y"])
        #expect(try keel("sync", folder.path, root).code == 0)
        let empty = scratch.file("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        for (from, to) in [(empty.path, root), ("\(root)-mistyped", folder.path)] {
            let refused = try keel("sync", from, to, "--delete", "--yes")
            #expect(refused.code == 1 && refused.output.isEmpty, "\(refused.output)")
            #expect(refused.errors.contains("“\(from)” has no files"), "\(refused.errors)")
            #expect(refused.errors.contains("add --allow-empty to delete 2 files of “\(to)”"))
            // Without --delete there is nothing to refuse, and a dry run shows what would be deleted.
            #expect(try keel("sync", from, to).code == 0)
            let dry = try keel("sync", from, to, "--delete", "--dry-run")
            #expect(dry.output.hasSuffix("0 to copy, 2 to delete, 0 unchanged\n"))
        }
        #expect(try keel("du", root, "--json").output.contains(#""files":2"#))
        let arguments = ["files", "sync", empty.path, root, "--delete", "--allow-empty"]
        let environment = server.environment(scratch.file("cache"))
        let asking = try KeelProcess(arguments, environment: environment).wait()
        #expect(asking.code == 1 && asking.errors.contains("Add --yes"), "\(asking.errors)")
        let meant = try KeelProcess(arguments + ["--yes"], environment: environment).wait()
        #expect(meant.output.hasSuffix("0 copied, 2 deleted, 0 unchanged\n"), "\(meant.errors)")
    }

    @Test("A sync deletes the files it has planned to, but for one that is gone, and no folder")
    func meanwhile() async throws {
        let folder = try tree("a", ["kept": "k", "x": "x", "y": "y"])
        let kept = folder.appending(path: "kept").path
        #expect(try keel("put", kept, "\(root)/kept").code == 0)
        let environment = server.environment(scratch.file("cache"))
        let transport = AsyncHTTPClientTransport()
        let transfers = FileTransfers(BucketSettings(environment: environment), over: transport)
        let (from, to) = (try #require(FilePlace(root)), FilePlace.local(path: folder.path))
        let first = try await transfers.plan(from: from, to: to)
        // As another run does that has begun at the same time.
        try FileManager.default.removeItem(at: folder.appending(path: "x"))
        try await transfers.delete(first) { _ in }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept"])

        _ = try tree("a", ["x": "x"])
        let second = try await transfers.plan(from: from, to: to)
        try FileManager.default.removeItem(at: folder.appending(path: "x"))
        _ = try tree("a", ["x/inside": "i"])
        await #expect(throws: ToolError.self) { try await transfers.delete(second) { _ in } }
        #expect(FileManager.default.fileExists(atPath: folder.path + "/x/inside"))
        await transport.shutdown()
    }

    @Test("A link of the target is not followed out of the folder")
    func links() throws {
        let folder = try tree("a", ["link/x": "x"])
        #expect(try keel("sync", folder.path, root).code == 0)
        let outside = try tree("outside", ["kept": "kept"])
        let target = try tree("target", ["other": "other"])
        try FileManager.default.createSymbolicLink(
            at: target.appending(path: "link"),
            withDestinationURL: outside
        )
        let sync = try keel("sync", root, target.path)
        #expect(sync.code == 2 && sync.errors.contains("“link/x” was skipped"))
        let get = try keel("get", root, target.path, "-r")
        #expect(get.code == 2 && get.errors.contains("“link/x” was skipped"), "\(get.errors)")
        #expect(!FileManager.default.fileExists(atPath: outside.appending(path: "x").path))
    }

    @Test("Skipped entries are reported even if a file fails")
    func skippedBesideFailure() throws {
        let folder = try tree("a", ["link/x": "x", "y": "y"])
        #expect(try keel("sync", folder.path, root).code == 0)
        // A folder has the name of a file.
        let target = try tree("target", ["y/inside": "i"])
        try FileManager.default.createSymbolicLink(
            at: target.appending(path: "link"),
            withDestinationURL: folder
        )
        let sync = try keel("sync", root, target.path)
        #expect(sync.code == 1 && sync.errors.contains("\(root)/y"), "\(sync.errors)")
        #expect(sync.errors.contains("“link/x” was skipped"), "\(sync.errors)")
    }

    @Test("What is skipped in the source is not deleted in the target")
    func skippedSources() throws {
        let folder = try tree("a", ["x": "x", "b/y": "y", "z": "z"])
        #expect(try keel("sync", folder.path, root).code == 0)
        for name in ["x", "b", "z"] {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for name in ["x", "b"] {
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: name),
                withDestinationURL: URL(filePath: "/nowhere")
            )
        }
        let sync = try keel("sync", folder.path, root, "--delete", "--yes")
        #expect(sync.code == 2 && sync.errors.contains("“b” was skipped"), "\(sync.errors)")
        #expect(sync.output == "deleted \(root)/z\n0 copied, 1 deleted, 0 unchanged\n")
        #expect(try keel("cat", "\(root)/x", "\(root)/b/y").output == "xy")
    }

    #if os(Linux)
    @Test("A file whose name is not UTF-8 is skipped by name, and the others are copied")
    func foreignNames() throws {
        let folder = try tree("a", ["x": "x"])
        let made = try KeelProcess(
            shell: "printf y > \"$(printf 'caf\\351')\"; ls",
            in: folder
        ).wait()
        try #require(made.code == 0, "\(made.errors)")
        for arguments in [["sync", folder.path, root], ["put", folder.path, root, "-r"]] {
            let result = try KeelProcess(
                ["files"] + arguments,
                environment: server.environment(scratch.file("cache"))
            ).wait()
            #expect(result.code == 2, "\(result.errors)")
            #expect(result.errors.contains("“caf\u{FFFD}” was skipped"), "\(result.errors)")
        }
        #expect(try keel("cat", "\(root)/x").output == "x")
    }
    #endif

    @Test(
        "A folder that cannot be read ends the command, unless it is excluded",
        .enabled(if: geteuid() != 0, "SKIPPED: root can read every folder")
    )
    func unreadableFolders() throws {
        let folder = try tree("a", ["x": "x", "lost/y": "y"])
        let lost = folder.appending(path: "lost").path
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: lost)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: lost)
        }
        let sync = try keel("sync", folder.path, root)
        #expect(sync.code == 1 && sync.errors.contains("lost/” cannot be read"), "\(sync.errors)")
        #expect(sync.errors.contains("--exclude '/lost/'"))
        let rest = try keel("sync", folder.path, root, "--exclude", "/lost/")
        #expect(rest.code == 0, "\(rest.errors)")
        #expect(try keel("put", folder.path, root, "-r").code == 1)
    }

    @Test("A killed sync continues when it is run again")
    func killed() async throws {
        let folder = try tree("a", ["a.txt": "a", "b.txt": "b"])
        let bytes = largeContent(12 << 20)
        try bytes.write(to: folder.appending(path: "held"))
        let arguments = [
            "files", "sync", folder.path, root, "--part-size", "5", "--parallel", "1",
            "--transfers", "1",
        ]
        let environment = server.environment(scratch.file("cache"))
        let process = try KeelProcess(arguments, environment: environment)
        #expect(process.nextLine() == "\(root)/a.txt: 1 byte")
        #expect(process.nextLine() == "\(root)/b.txt: 1 byte")
        // The server does not answer the second part until the key "go" exists.
        let notes = scratch.file("cache").appending(path: "keel/uploads").path
        #expect(await killed(process, notes: notes) == SIGKILL)
        #expect(try keel("put", scratch.file("go", holding: "1").path, "\(root)/go").code == 0)
        let again = try KeelProcess(arguments, environment: environment).wait()
        #expect(again.code == 0, "\(again.errors)")
        #expect(again.output.hasSuffix("1 copied, 0 deleted, 2 unchanged\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: notes).isEmpty)
        let target = scratch.file("back")
        #expect(try keel("get", "\(root)/held", target.path).code == 0)
        #expect(try Data(contentsOf: target) == bytes)
    }

    @Test("Standard streams: put takes input of unknown length, get and cat write the bytes")
    func streams() throws {
        let text = String(repeating: "0123456789abcde\n", count: 700_000)
        let put = try keel("put", "-", "\(root)/dump", "--part-size", "5", input: text)
        #expect(put.code == 0, "\(put.errors)")
        #expect(put.output == "\(root)/dump: 11200000 bytes\n")
        #expect(try keel("get", "\(root)/dump", "-").output == text)
        #expect(try keel("put", "-", "\(root)/empty", input: "").output.hasSuffix(": 0 bytes\n"))
        #expect(try keel("put", "-", "\(root)/").code == 64)
        #expect(try keel("get", root, "-", "-r").code == 64)
        let type = try keel("put", "-", "\(root)/page", "--content-type", "text/x-own", input: "hi")
        #expect(type.code == 0)
        #expect(try keel("stat", "\(root)/page").output.contains("type      text/x-own\n"))
        #expect(try keel("cat", "\(root)/page", "\(root)/page").output == "hihi")
    }

    @Test("Move removes the source once the target is complete")
    func moves() throws {
        let folder = try tree("a", ["x": "x", "b/y": "yy"])
        #expect(try keel("move", folder.path, root, "-r").output.hasSuffix("2 files, 3 bytes\n"))
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "b/y").path))
        #expect(try keel("move", "\(root)/x", "\(root)/z").code == 0)
        #expect(try keel("stat", "\(root)/x").code == 1)
        let other = "s3://second/\(UUID().uuidString)"
        #expect(try keel("move", root, other, "-r").code == 0)
        #expect(try keel("list", root, "-r").output.isEmpty)
        #expect(try keel("move", other, folder.path, "-r").code == 0)
        #expect(try keel("list", other, "-r").output.isEmpty)
        let text = try String(contentsOf: folder.appending(path: "z"), encoding: .utf8)
        #expect(text == "x")
        #expect(try keel("move", "\(root)/none", "\(root)/other").code == 1)
    }

    @Test("stat and du describe, and a presigned URL reads and writes")
    func descriptions() async throws {
        let file = try scratch.file("a.txt", holding: "hello")
        #expect(try keel("put", file.path, "\(root)/a.txt").code == 0)
        let stat = try keel("stat", "\(root)/a.txt").output
        #expect(stat.contains("bytes     5\n") && stat.contains("version   5d41402abc4b2a76"))
        #expect(stat.contains("checksum  crc32c:9a71bb4c\n"))
        #expect(try keel("du", root).output == "5 bytes  1 file  \(root)\n")
        let get = try keel("presign", "\(root)/a.txt", "--expires", "5m").output
        #expect(get.contains("X-Amz-Expires=300"))
        let url = try #require(URL(string: get.trimmingCharacters(in: .newlines)))
        let (data, _) = try await URLSession.shared.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        let put = try keel("presign", "\(root)/b.txt", "--put").output
        var request = URLRequest(
            url: try #require(URL(string: put.trimmingCharacters(in: .newlines)))
        )
        request.httpMethod = "PUT"
        _ = try await URLSession.shared.upload(for: request, from: Data("new".utf8))
        #expect(try keel("cat", "\(root)/b.txt").output == "new")
        for time in ["0s", "8d", "x", "", "99999999999999999d"] {
            #expect(try keel("presign", "\(root)/a", "--expires", time).code == 64)
        }
    }

    @Test(
        "Patterns choose names",
        arguments: [
            ("*.jpg", "a.jpg", true), ("*.jpg", "b/a.jpg", true), ("/*.jpg", "b/a.jpg", false),
            ("b/*", "b/a", true), ("b/*", "b/c/a", false), ("b/**", "b/c/a", true),
            ("cache/", "x/cache/y/z", true), ("cache/", "cache", false), ("a?c", "abc", true),
            ("a?c", "a/c", false), ("**", "a/b", true), ("", "a", false), ("ü*", "über", true),
        ]
    )
    func patterns(_ pattern: String, _ names: String, _ matches: Bool) {
        #expect(NamePatterns(include: [pattern]).chooses(names) == matches)
        #expect(NamePatterns(exclude: [pattern]).chooses(names) == !matches)
    }

    @Test(
        "A folder is excluded only by a pattern that leaves out all of its files",
        arguments: [
            ("b/", true), ("/b/", true), ("b/**", true), ("**", true), ("b/c/", false),
            ("b/*", false), ("b", false), ("", false),
        ]
    )
    func excludedFolders(_ pattern: String, _ isExcluded: Bool) {
        #expect(NamePatterns(exclude: [pattern]).excludesAll(of: "b/") == isExcluded)
    }
}
#endif
