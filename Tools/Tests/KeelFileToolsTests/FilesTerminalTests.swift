#if os(Linux) || os(macOS)
import Foundation
import KeelAsyncHTTPClient
import KeelFileTools
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite(
    "The command keel files at a terminal and in pipes",
    .enabled(if: MotoServer.isPresent, MotoServer.absence),
    .timeLimit(.minutes(10))
)
struct FilesTerminalTests: MotoTests {
    let moto: MotoFolder

    init() throws { moto = try MotoFolder() }

    private func terminal(_ arguments: String..., columns: Int = 160) throws -> TmuxTerminal {
        try TmuxTerminal(
            ["files"] + arguments,
            columns: columns,
            environment: server.environment(scratch.file("cache"))
        )
    }

    /// Puts small files into a folder of the bucket.
    private func putFolder(_ name: String, _ count: Int) throws -> String {
        let folder = scratch.file(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            try Data("\(number)".utf8).write(to: folder.appending(path: "\(number)"))
        }
        let put = try keel("put", folder.path, "\(root)/\(name)", "-r")
        try #require(put.code == 0, "\(put.errors)")
        return "\(root)/\(name)"
    }

    @Test("A put in parts of the default size shows what was sent, in any width of the window")
    func progress() async throws {
        let file = scratch.file("large")
        try Data(repeating: 7, count: 20 << 20).write(to: file)
        // It would take most of a minute, and is interrupted after a few seconds: all that follows must be seen before
        // its end, on a busy machine too.
        let put = try terminal(
            "put",
            file.path,
            "\(root)/large",
            "--limit-rate",
            "400K",
            columns: 100
        )
        let some =
            /(^|\] )[1-4]?[0-9] %, [0-9.]+ MiB of 20\.0 MiB, [0-9.]+ [KM]iB\/s, [0-9]+s left/
        try await put.wait(for: "a share below the half, with its rate and the time left") {
            $0.contains { $0.contains(some) }
        }
        // Also to widths that divide the width of the line without a rest.
        for columns in [40, 100, 97, 47, 22, 100] {
            try put.resize(columns: columns)
            try await put.wait(for: "one line of up to \(columns) columns") { lines in
                let shown = lines.filter { !$0.isEmpty }
                return shown.count == 1 && shown[0].contains(" MiB of ")
                    && shown[0].count < columns && shown[0].count > columns - 6
            }
        }
        try put.press("C-c")
        #expect(try await put.exitCode() == 130)
        let shown = try put.screen().filter { !$0.isEmpty }
        #expect(shown.first?.contains("it was interrupted") == true, "\(shown)")
    }

    @Test("Listing, comparing and deleting count the files")
    func counts() async throws {
        let place = try putFolder("many", 3)
        let environment = server.environment(scratch.file("cache"))
        let transport = AsyncHTTPClientTransport()
        let transfers = FileTransfers(BucketSettings(environment: environment), over: transport)
        let from = FilePlace.local(path: scratch.file("many").path)
        let to = try #require(FilePlace(place))
        var seen: [String] = []
        let plan = try await transfers.plan(from: from, to: to, comparesChecksums: true) {
            seen.append("\($0) of \($1.map(String.init) ?? "?")")
        }
        #expect(plan.unchangedCount == 3)
        let listed = ["3 of ?", "4 of ?", "5 of ?", "6 of ?"]
        #expect(seen == listed + ["0 of 3", "1 of 3", "2 of 3"])
        guard case .bucket(let bucket, let key) = to else { return }
        var deleted: [Int] = []
        let count = try await transfers.deleteAll(of: bucket, in: key) { deleted.append($0) }
        #expect(count == 3 && deleted == [3])
        await transport.shutdown()
    }

    @Test(
        "A file that changes while it is sent is reported, because the next sync would skip it",
        arguments: ["changing", "link"]
    )
    func changes(name: String) async throws {
        let file = scratch.file("changing")
        try Data("old".utf8).write(to: file)
        try FileManager.default.createSymbolicLink(
            at: scratch.file("link"),
            withDestinationURL: file
        )
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
            ofItemAtPath: file.path
        )
        let environment = server.environment(scratch.file("cache"))
        let transport = AsyncHTTPClientTransport()
        let transfers = FileTransfers(BucketSettings(environment: environment), over: transport)
        let from = FilePlace.local(path: scratch.file(name).path)
        let to = try #require(FilePlace("\(root)/\(name)"))
        let error = await #expect(throws: ToolError.self) {
            try await transfers.copy(from: from, to: to, isRecursive: false) { _ in
                try Data("new".utf8).write(to: file)
            }
        }
        #expect(error?.message.contains("changed while it was copied") == true)
        let report = try await transfers.copy(from: from, to: to, isRecursive: false)
        #expect(report.fileCount == 1)
        await transport.shutdown()
    }

    @Test("A sync finds a change of the same size by a clock that is behind that of the bucket")
    func slowClock() async throws {
        let lag: TimeInterval = 3600
        let place = try #require(FilePlace(try putFolder("slow", 2)))
        // The second one after the upload, by the clock of this machine.
        let dates = ["0": Date(timeIntervalSince1970: 1_700_000_000), "1": Date.now - lag + 60]
        for (name, date) in dates {
            try FileManager.default.setAttributes(
                [.modificationDate: date],
                ofItemAtPath: scratch.file("slow/\(name)").path
            )
        }
        let environment = server.environment(scratch.file("cache"))
        let transport = AsyncHTTPClientTransport()
        let transfers = FileTransfers(
            BucketSettings(environment: environment),
            over: transport,
            now: { Date.now - lag }
        )
        let from = FilePlace.local(path: scratch.file("slow").path)
        let plan = try await transfers.plan(from: from, to: place)
        #expect(plan.copies.map(\.from) == [.local(path: scratch.file("slow/1").path)])
        #expect(plan.unchangedCount == 1)
        await transport.shutdown()
    }

    @Test("A folder is deleted after a question, and stays after another answer or Control-C")
    func deletion() async throws {
        let place = try putFolder("kept", 2)
        for (keys, code) in [(["n", "Enter"], 1), (["Enter"], 1), (["C-c"], 130)] {
            let delete = try terminal("rm", place, "-r")
            try await delete.wait(for: "Delete all files of “\(place)”? [y/N]")
            for key in keys { try delete.press(key) }
            #expect(try await delete.exitCode() == code)
            let screen = try delete.screen()
            #expect(screen.contains("keel: nothing was deleted") == (code == 1), "\(screen)")
            #expect(!screen.contains { $0.contains("copied") || $0.contains("parts") })
            #expect(try keel("du", place).output.contains("  2 files  "))
        }
        let delete = try terminal("delete", place, "-r")
        try await delete.wait(for: "? [y/N]")
        try delete.press("y", "Enter")
        #expect(try await delete.exitCode() == 0)
        #expect(try delete.screen().contains("2 files deleted"))
        #expect(try keel("list", place, "-r").output.isEmpty)
    }

    @Test("A reader that leaves ends the command silently, as it ends others")
    func leavingReader() throws {
        let file = scratch.file("large")
        try Data(repeating: 7, count: 4 << 20).write(to: file)
        #expect(try keel("put", file.path, "\(root)/large").code == 0)
        let pipe = try KeelProcess(
            shell: "{ \"$keel\" files cat \(root)/large; echo $? > code; } | head -c 3",
            environment: server.environment(scratch.file("cache")),
            in: scratch.folder
        ).wait()
        #expect(pipe.errors.isEmpty, "\(pipe.errors)")
        #expect(try String(contentsOf: scratch.file("code"), encoding: .utf8) == "141\n")
        let full = try KeelProcess(
            shell: "\"$keel\" files cat \(root)/large > /dev/full",
            environment: server.environment(scratch.file("cache"))
        ).wait()
        #expect(full.code == 1 && full.errors.contains("standard output is full"))
    }

    #if os(Linux)
    @Test("A signal ends a list also while it waits for its reader")
    func stalledReader() async throws {
        let descriptor = open(try scratch.pipe("pipe").path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        // F_SETPIPE_SZ. A pipe of one page is full once it has bytes.
        let page = Int32(getpagesize())
        try #require(fcntl(descriptor, 1031, page) == page)
        let place = try putFolder("listed", Int(page) / 64)
        // The tests themselves may block the signal.
        let list = try KeelProcess(
            shell: "exec env --default-signal=TERM \"$keel\" files list \(place) > pipe",
            environment: server.environment(scratch.file("cache")),
            in: scratch.folder
        )
        try await waitUntil {
            var count: Int32 = 0
            return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
        }
        list.terminate()
        try await waitUntil { !list.isRunning }
        #expect(list.wait().code == SIGTERM)
    }
    #endif

    @Test("Short names, and places that are files, folders or nothing at all")
    func places() throws {
        let file = try scratch.file("a.txt", holding: "hello")
        #expect(try keel("cp", file.path, "\(root)/dump").code == 0)
        #expect(try keel("mv", "\(root)/dump", "\(root)/dump2").code == 0)
        let list = try keel("ls", "\(root)/dump2")
        #expect(list.code == 0 && list.output.hasSuffix("/dump2\n") && list.output.contains(" 5 "))
        #expect(try keel("list", "\(root)/dump2", "--json").output.contains(#""bytes":5"#))
        #expect(try keel("list", "\(root)/dump").output.isEmpty)
        let help = try keel("--help").output
        for names in ["list, ls", "copy, cp", "move, mv", "delete, rm"] {
            #expect(help.contains(names), "\(help)")
        }
        for command in ["stat", "cat"] {
            let bucket = try keel(command, "s3://first")
            #expect(bucket.code == 64 && bucket.errors.contains("no key: type s3://first/KEY"))
            let folder = try keel(command, "\(root)/")
            #expect(folder.code == 64 && folder.errors.contains("is a folder"))
        }
        let sync = try keel("sync", scratch.file("none").path, root)
        #expect(sync.code == 1 && sync.errors.contains("is not a folder"))
        #expect(!sync.errors.contains("recursive"))
        let stat = try keel("stat", "\(root)/none", "--json")
        #expect(stat.code == 1 && stat.errors.hasPrefix(#"{"advice":"#))
        #expect(stat.errors.contains(#""error":"“\#(root)/none” does not exist""#))
        #expect(try keel("rm", "\(root)/dump2").output == "1 file deleted\n")
    }

    @Test("Uploads are ended by an age with a unit", arguments: ["7d", "12h", "90s", "168", "x"])
    func ages(age: String) throws {
        let uploads = try keel("uploads", "s3://second", "--abort-older-than", age)
        guard age.last?.isNumber == false, age != "x" else {
            #expect(uploads.code == 64 && uploads.errors.contains("must be an age"))
            return
        }
        #expect(uploads.output == "0 ended\n", "\(uploads.errors)")
    }

    @Test(
        "A provider sets the region and needs its endpoint",
        arguments: [("r2", "auto"), ("gcs", "auto"), ("minio", "us-east-1")]
    )
    func providers(provider: String, region: String) throws {
        let unset = ["AWS_ENDPOINT_URL": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": ""]
        func run(_ arguments: String...) throws -> (code: Int32, output: String, errors: String) {
            try KeelProcess(
                ["files"] + arguments + ["--provider", provider, "--endpoint", server.endpoint],
                environment: server.environment(scratch.file("cache")).merging(unset) { $1 }
            ).wait()
        }
        let file = try scratch.file("a.txt", holding: "hello")
        let put = try run("put", file.path, "\(root)/\(provider)")
        #expect(put.code == 0, "\(put.errors)")
        #expect(try run("cat", "\(root)/\(provider)").output == "hello")
        // R2 and Google are sent no CRC-32C.
        let stat = try run("stat", "\(root)/\(provider)").output
        #expect(stat.contains("crc32c:") == (provider == "minio"), "\(stat)")
        #expect(try run("presign", "\(root)/\(provider)").output.contains("%2F\(region)%2Fs3"))
        #expect(try run("rm", "\(root)/\(provider)").code == 0)
        // Google's is known, and on another machine.
        guard provider != "gcs" else { return }
        let lacking = try keel("list", "s3://first", "--provider", provider, environment: unset)
        #expect(lacking.code == 64 && lacking.errors.contains("Add --endpoint"))
    }

    @Test("A profile's keys are used instead of the environment's")
    func profile() throws {
        let home = scratch.file("home")
        let folder = home.appending(path: ".aws")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let keys = """
            [backup]
            aws_access_key_id = AKIDPROFILE
            aws_secret_access_key = secret

            """
        try Data(keys.utf8).write(to: folder.appending(path: "credentials"))
        let place = "\(root)/profile"
        let environment = ["HOME": home.path]
        let file = try scratch.file("a.txt", holding: "hello")
        let put = try keel(
            "put",
            file.path,
            place,
            "--aws-profile",
            "backup",
            environment: environment
        )
        #expect(put.code == 0, "\(put.errors)")
        let url = try keel("presign", place, "--aws-profile", "backup", environment: environment)
        #expect(url.output.contains("X-Amz-Credential=AKIDPROFILE%2F"), "\(url.errors)")
        let own = try keel("presign", place, environment: environment).output
        #expect(own.contains("X-Amz-Credential=AKIDEXAMPLE%2F"))
        let none = try keel("list", root, "--aws-profile", "other", environment: environment)
        #expect(none.code == 1 && none.errors.contains("other"))
    }
}
#endif
