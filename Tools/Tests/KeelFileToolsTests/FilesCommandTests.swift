#if os(Linux) || os(macOS)
import Foundation
import KeelFileTools
import KeelToolsTestSupport
import Testing

@Suite(
    "The command keel files",
    .enabled(if: MotoServer.isPresent, MotoServer.absence),
    .timeLimit(.minutes(10))
)
struct FilesCommandTests: MotoTests {
    let moto: MotoFolder

    init() throws { moto = try MotoFolder() }

    @Test("A file is put, listed, downloaded, copied and deleted")
    func roundTrip() throws {
        let file = try scratch.file("note ü.txt", holding: "hello")
        let put = try keel("put", file.path, "\(root)/")
        #expect(put.code == 0 && put.errors.isEmpty)
        #expect(put.output == "\(root)/note ü.txt: 5 bytes\n")
        let target = scratch.file("copy.txt")
        #expect(try keel("get", "\(root)/note ü.txt", target.path).code == 0)
        #expect(try String(contentsOf: target, encoding: .utf8) == "hello")
        #expect(try keel("copy", "\(root)/note ü.txt", "\(root)/b/two").code == 0)
        #expect(try keel("copy", "\(root)/b/two", "s3://second/\(UUID().uuidString)").code == 0)
        let list = try keel("list", root).output.split(separator: "\n")
        #expect(list.count == 2)
        #expect(list.first?.hasSuffix("/b/") == true)
        #expect(list.last?.contains(" 5  ") == true && list.last?.hasSuffix("note ü.txt") == true)
        #expect(try keel("list", root, "-r").output.contains("/b/two\n"))
        #expect(try keel("delete", "\(root)/b/two").output == "1 file deleted\n")
        let again = try keel("delete", "\(root)/b/two")
        #expect(again.code == 2 && again.output == "0 files deleted\n")
        #expect(try keel("list", "\(root)/b").output.isEmpty)
    }

    @Test("A folder survives the round trip, without its links")
    func folders() throws {
        let folder = scratch.file("tree")
        let names = ["a.txt", "b/c.txt", "b/d/e f.txt", ".hidden"]
        for name in names {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(name.utf8).write(to: file)
        }
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "link"),
            withDestinationURL: URL(filePath: "/etc/passwd")
        )
        let put = try keel("put", folder.path, root, "--recursive")
        #expect(put.code == 2)
        #expect(put.errors.contains("“link” was skipped"))
        #expect(put.output.hasSuffix("4 files, 30 bytes\n"))
        let back = scratch.file("back")
        #expect(try keel("get", root, back.path, "-r").code == 0)
        for name in names {
            let file = back.appending(path: name)
            #expect(try String(contentsOf: file, encoding: .utf8) == name)
        }
        #expect(!FileManager.default.fileExists(atPath: back.appending(path: "link").path))
        #expect(try keel("copy", root, "\(root)-2", "-r").code == 0)
        #expect(try keel("delete", "\(root)-2", "-r", "--yes").output == "4 files deleted\n")
        #expect(try keel("put", folder.path, root).code == 1)
    }

    @Test("Files of a folder are copied concurrently, and an error names its file")
    func someAtATime() throws {
        let folder = scratch.file("many")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 10..<40 {
            try Data("\(number)".utf8).write(to: folder.appending(path: "\(number).txt"))
        }
        for transfers in ["1", "8"] {
            let put = try keel(
                "put",
                folder.path,
                "\(root)/\(transfers)",
                "-r",
                "--transfers",
                transfers
            )
            #expect(put.code == 0, "\(put.errors)")
            let lines = put.output.split(separator: "\n")
            #expect(lines.last == "30 files, 60 bytes")
            #expect(Set(lines.dropLast()).count == 30)
            let list = try keel("list", "\(root)/\(transfers)", "-r").output
            #expect(list.split(separator: "\n").count == 30)
        }
        // There is a folder at the path of the first file.
        let back = scratch.file("back")
        try FileManager.default.createDirectory(
            at: back.appending(path: "10.txt/inside"),
            withIntermediateDirectories: true
        )
        let got = try keel("get", "\(root)/1", back.path, "-r", "--transfers", "3")
        #expect(got.code == 1)
        #expect(got.errors.contains("keel: \(root)/1/10.txt: "))
        // Copies in progress complete; after the error no others are started.
        let names = try FileManager.default.contentsOfDirectory(atPath: back.path)
        #expect(names.count < 30)
        #expect(!names.contains { $0.contains("part") })
        for name in names where name != "10.txt" {
            let text = try String(contentsOf: back.appending(path: name), encoding: .utf8)
            #expect(text + ".txt" == name)
        }
        let code = try keel("put", folder.path, root, "-r", "--transfers", "0").code
        #expect(code == 64)
        let json = try keel("get", "\(root)/1", back.path, "-r", "--json")
        #expect(json.errors.contains(#""about":"\#(root)/1/10.txt""#))
        #expect(json.errors.contains(#""code":"writeFailed""#))
    }

    @Test("With --json, results and errors are JSON without a progress bar")
    func json() throws {
        let file = try scratch.file("a.txt", holding: "hello")
        let put = try keel("put", file.path, "\(root)/a.txt", "--json")
        #expect(put.output == #"{"bytes":5,"from":"\#(file.path)","to":"\#(root)/a.txt"}"# + "\n")
        #expect(put.errors.isEmpty)
        let list = try keel("list", root, "--json").output
        #expect(list.contains(#""bytes":5"#) && list.contains(#""version":"5d41402abc4b2a76"#))
        let missing = try keel("get", "\(root)/none", scratch.file("x").path, "--json")
        #expect(missing.code == 1)
        #expect(missing.errors.hasPrefix(#"{"advice":"#))
        #expect(missing.errors.contains(#""code":"fileNotFound""#))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("x").path))
        #expect(try keel("delete", "\(root)/a.txt", "--json").output == #"{"deleted":1}"# + "\n")
    }

    @Test("Mistakes are reported by exit code and advice, without secrets")
    func mistakes() throws {
        let file = try scratch.file("a.txt", holding: "hello").path
        #expect(try keel("put", file, "b.txt").code == 64)
        #expect(try keel("copy", file, "b.txt").code == 64)
        for command in ["put", "get"] {
            let between = try keel(command, "s3:first/a", "s3:second/b")
            #expect(between.code == 64)
            #expect(between.errors.contains("type keel files copy s3://first/a s3://second/b"))
        }
        #expect(try keel("delete", "s3://first").code == 64)
        #expect(try keel("delete", "s3://first/a/").code == 64)
        #expect(try keel("put", file, "\(root)/a", "--part-size", "4").code == 64)
        #expect(try keel("put", file + "x", "\(root)/a").code == 1)
        let bucket = try keel("list", "s3://no-such-bucket", "--json")
        #expect(bucket.code == 1 && bucket.errors.contains(#""code":"bucketNotFound""#))
        let endpoint = try keel("list", "s3://first", "--endpoint", "nonsense")
        #expect(endpoint.code == 64 && endpoint.errors.contains("such as http://127.0.0.1:9000"))
        let keys = try keel("list", "s3://first", environment: ["AWS_SECRET_ACCESS_KEY": ""])
        #expect(keys.code == 1 && keys.errors.contains("AWS_SECRET_ACCESS_KEY"))
        #expect(!keys.errors.contains("AKIDEXAMPLE"))
    }

    @Test("A killed put continues when it is run again")
    func killed() async throws {
        let file = scratch.file("big")
        let bytes = largeContent(16 << 20)
        try bytes.write(to: file)
        let notes = scratch.file("cache").appending(path: "keel/uploads").path
        let arguments = [
            "files", "put", file.path, "\(root)/held", "--part-size", "5", "--parallel", "1",
        ]
        let environment = server.environment(scratch.file("cache"))
        // The server does not answer the second part until the key "go" exists.
        let process = try KeelProcess(arguments, environment: environment)
        #expect(await killed(process, notes: notes) == SIGKILL)
        #expect(try keel("uploads", "s3://first").output.contains("/held\n"))
        #expect(try keel("put", scratch.file("go", holding: "1").path, "\(root)/go").code == 0)
        let again = try KeelProcess(arguments, environment: environment).wait()
        #expect(again.code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: notes).isEmpty)
        let target = scratch.file("back")
        #expect(try keel("get", "\(root)/held", target.path).code == 0)
        #expect(try Data(contentsOf: target) == bytes)
        #expect(try !keel("uploads", "s3://first").output.contains("/held\n"))
    }

    @Test("Places on the command line are parsed")
    func places() {
        #expect(FilePlace("s3://b/a/c") == .bucket(name: "b", key: "a/c"))
        #expect(FilePlace("s3://b") == .bucket(name: "b", key: ""))
        #expect(FilePlace("s3://b/") == .bucket(name: "b", key: ""))
        #expect(FilePlace("s3:b/a/c") == .bucket(name: "b", key: "a/c"))
        #expect(FilePlace("s3:b")?.description == "s3://b/")
        #expect(FilePlace("a/b") == .local(path: "a/b"))
        #expect(FilePlace("./s3:b") == .local(path: "./s3:b"))
        #expect(FilePlace("s3://") == nil)
        #expect(FilePlace("s3:") == nil)
        #expect(FilePlace("") == nil)
    }
}
#endif
