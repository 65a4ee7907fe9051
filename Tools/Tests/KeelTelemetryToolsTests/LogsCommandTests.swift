import Foundation
import KeelJournal
import KeelLogging
import KeelLoggingOTLP
import KeelSecrets
import KeelSecurity
import KeelTestKit
import KeelToolsTestSupport
import Logging
import Testing

#if os(Linux) || os(macOS)
@Suite("The command keel logs", .timeLimit(.minutes(30)))
struct LogsCommandTests {
    private let scratch: Scratch
    private let path: String
    private let file: RotatingLogFile

    init() throws {
        scratch = try Scratch()
        let url = scratch.file("app.log")
        var configuration = LogFileConfiguration()
        configuration.byteLimit = 2048
        file = try RotatingLogFile(at: url, configuration)
        path = url.path
    }

    private func log(_ numbers: Range<Int>, to output: some LogOutput) {
        for number in numbers {
            output.write(
                LogRecord(
                    time: 1_795_340_713_000_000 + Int64(number) * 1_000_000,
                    level: number.isMultiple(of: 10) ? .error : .info,
                    label: "app",
                    message: "record \(number)",
                    fields: [LogField("parity", .text(number.isMultiple(of: 2) ? "even" : "odd"))],
                    source: "App",
                    file: "App/Home.swift",
                    function: "load()",
                    line: 12
                )
            )
        }
    }

    private func messages(_ output: String) -> [String] {
        output.split(separator: "\n").compactMap { LogRecord(jsonLine: $0.utf8)?.message }
    }

    @Test("Logs come from standard input, which can be one of several")
    func standardInput() throws {
        log(0..<10, to: file)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let all = try KeelProcess(["logs", "query", "-", "--json"], input: text).wait()
        #expect(all.code == 0, "\(all.errors)")
        #expect(messages(all.output) == (0..<10).map { "record \($0)" })
        let cut = String(text.dropLast())
        let unended = try KeelProcess(["logs", "query", "-", "--json"], input: cut).wait()
        #expect(messages(unended.output).count == 10)
        let both = try KeelProcess(["logs", "query", "-", path, "--json"], input: text).wait()
        #expect(messages(both.output).count == 20)
        let last = try KeelProcess(["logs", "tail", "-", "-n", "2", "--json"], input: text).wait()
        #expect(messages(last.output) == ["record 8", "record 9"])
        let pipe = try KeelProcess(["logs", "query", try scratch.pipe("pipe").path]).wait()
        #expect(pipe.code == 1 && pipe.errors.contains("Type - in its place"), "\(pipe.errors)")
        let twice = try KeelProcess(["logs", "query", "-", "-"], input: text).wait()
        #expect(twice.code == 64 && twice.errors.contains("only one of the files"))
        let follow = try KeelProcess(["logs", "tail", "-", "--follow"], input: text).wait()
        #expect(follow.code == 64 && follow.errors.contains("type a path instead of -"))
    }

    @Test("A reader that leaves ends a query of standard input, whose copy is removed")
    func leavingReader() throws {
        log(0..<5, to: file)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let folder = scratch.file("temporary")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // More than a pipe holds, so that the command is still writing when the reader has left.
        _ = try scratch.file("long.log", holding: String(repeating: text, count: 5_000))
        let query = try KeelProcess(
            shell: "{ \"$keel\" logs query - --json < long.log; echo $? > code; } | head -n 1",
            environment: ["TMPDIR": folder.path],
            in: scratch.folder
        ).wait()
        #expect(messages(query.output) == ["record 0"] && query.errors.isEmpty, "\(query.errors)")
        #expect(try String(contentsOf: scratch.file("code"), encoding: .utf8) == "141\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Control-C ends a query of standard input while nobody reads, and removes its copy")
    func interruptedStandardInput() async throws {
        log(0..<5, to: file)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let folder = scratch.file("temporary")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // More than a pipe holds.
        let query = try KeelProcess(
            ["logs", "query", "-", "--json"],
            input: String(repeating: text, count: 20_000),
            environment: ["TMPDIR": folder.path]
        )
        #expect(!query.nextLine().isEmpty)
        query.interrupt()
        try await waitUntil { !query.isRunning }
        let end = query.wait()
        #expect(end.code == 130, "\(end.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "Colors are for terminals, unless NO_COLOR has a value",
        arguments: [(["NO_COLOR": ""], true), (["NO_COLOR": "1"], false)]
    )
    func colors(environment: [String: String], hasColors: Bool) async throws {
        log(0..<1, to: file)
        let terminal = try TmuxTerminal(["logs", "query", path], environment: environment)
        #expect(try await terminal.exitCode() == 0)
        let screen = try terminal.screen(hasColors: true).joined()
        #expect(screen.contains("\u{1B}[") == hasColors, "\(screen)")
    }

    @Test("query also reads rotated files and applies its conditions")
    func query() throws {
        log(0..<100, to: file)
        let all = try KeelProcess(["logs", "query", path, "--json"]).wait()
        #expect(all.code == 0)
        #expect(messages(all.output) == (0..<100).map { "record \($0)" })
        let some = try KeelProcess([
            "logs", "query", path, "--json", "--level", "error", "--where", "parity == even",
            "--since", "2026-11-22T09:45:53Z", "--contains", "RECORD", "--limit", "2",
        ]).wait()
        #expect(messages(some.output) == ["record 40", "record 50"])
        let text = try KeelProcess(["logs", "query", path, "--limit", "1"]).wait()
        let end = "[ERROR] [app] [Home.swift:12] load(): record 0 parity=even\n"
        #expect(text.output.hasSuffix(end))
        let counts = try KeelProcess(["logs", "query", path, "--count-by", "level"]).wait()
        #expect(counts.output == "      90  info\n      10  error\n")
    }

    @Test("tail shows the last records and follows across rotations until interrupted")
    func tail() throws {
        log(0..<100, to: file)
        let last = try KeelProcess(["logs", "tail", path, "-n", "30", "--json"]).wait()
        #expect(messages(last.output) == (70..<100).map { "record \($0)" })
        let followed = try KeelProcess(["logs", "tail", path, "-n", "1", "-f", "--json"])
        #expect(messages(followed.nextLine()) == ["record 99"])
        log(100..<150, to: file)
        let lines = (0..<50).map { _ in followed.nextLine() }
        #expect(messages(lines.joined(separator: "\n")) == (100..<150).map { "record \($0)" })
        followed.interrupt()
        #expect(followed.wait().code == 0)
    }

    @Test("tail of several logs shows the last records, even if they are in rotated files")
    func tailOfSeveral() throws {
        let old = try RotatingLogFile(at: scratch.file("old.log"), LogFileConfiguration())
        log(0..<50, to: old)
        log(100..<200, to: file)
        let logs = [scratch.file("old.log").path, path, "--json"]
        let last = try KeelProcess(["logs", "tail", "-n", "20"] + logs).wait()
        #expect(messages(last.output) == (180..<200).map { "record \($0)" })
    }

    #if os(Linux)
    @Test("A signal ends tail --follow also while it waits for its reader")
    func stalledReader() async throws {
        let descriptor = open(try scratch.pipe("pipe").path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        // F_SETPIPE_SZ. A pipe of two pages is full once the second has bytes.
        let page = Int32(getpagesize())
        try #require(fcntl(descriptor, 1031, 2 * page) == 2 * page)
        let long = try RotatingLogFile(at: scratch.file("long.log"), LogFileConfiguration())
        log(0..<1, to: long)
        // The tests themselves may block the signal.
        let followed = try KeelProcess(
            shell: "exec env --default-signal=TERM \"$keel\" logs tail long.log -f > pipe",
            in: scratch.folder
        )
        func waitForBytes(_ least: Int32) async throws {
            try await waitUntil {
                var count: Int32 = 0
                return ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count >= least
            }
        }
        try await waitForBytes(1)
        log(1..<1000, to: long)
        try await waitForBytes(page + 1)
        followed.terminate()
        try await waitUntil { !followed.isRunning }
        #expect(followed.wait().code == 0)
    }
    #endif

    @Test("tail --follow reports lines that are not records, old and new ones")
    func followsForeignLines() throws {
        log(0..<2, to: file)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n").map { "\($0)\n" }
        let mixed = try scratch.file("mixed.log", holding: "plain\n" + lines[0])
        let followed = try KeelProcess(["logs", "tail", mixed.path, "--follow", "--json"])
        #expect(messages(followed.nextLine()) == ["record 0"])
        let handle = try FileHandle(forWritingTo: mixed)
        _ = try handle.seekToEnd()
        try handle.write(contentsOf: Data(("plain\nplain\n" + lines[1]).utf8))
        try handle.close()
        #expect(messages(followed.nextLine()) == ["record 1"])
        followed.interrupt()
        let end = followed.wait()
        #expect(end.code == 0 && end.errors.hasPrefix(#"{"message":"1 line is"#))
        // One message or two, because the command may read between the lines.
        #expect(end.errors.split(separator: "\n").count >= 2, "\(end.errors)")
    }

    @Test("A journal of shipped logs is read like a file")
    func journal() throws {
        let folder = scratch.file("journal")
        let output = OTLPLogOutput(try Journal(at: folder))
        log(0..<20, to: output)
        let shown = try KeelProcess(["logs", "tail", folder.path, "-n", "3", "--json"]).wait()
        #expect(messages(shown.output) == ["record 17", "record 18", "record 19"])
    }

    @Test("Several logs are merged by time, and matched by regular expression and trace")
    func merged() throws {
        let other = try RotatingLogFile(at: scratch.file("other.log"), LogFileConfiguration())
        log(0..<50, to: file)
        for number in 0..<50 {
            other.write(
                LogRecord(
                    time: 1_795_340_713_500_000 + Int64(number) * 1_000_000,
                    level: .info,
                    label: "other",
                    message: "half \(number)",
                    fields: number == 20 ? [LogField("trace-id", .text("4BF92F35"))] : [],
                    source: "App",
                    file: "App/Home.swift",
                    function: "load()",
                    line: 12
                )
            )
        }
        let logs = ["logs", "query", path, scratch.file("other.log").path, "--json"]
        let all = try KeelProcess(logs).wait()
        #expect(all.code == 0, "\(all.errors)")
        #expect(messages(all.output) == (0..<50).flatMap { ["record \($0)", "half \($0)"] })
        let some = try KeelProcess(logs + ["--matches", "^(half|record) 1[0-2]$"]).wait()
        #expect(messages(some.output) == (10..<13).flatMap { ["record \($0)", "half \($0)"] })
        let trace = try KeelProcess(logs + ["--trace", "4bf92f35", "-C", "2"]).wait()
        #expect(
            messages(trace.output) == ["half 19", "record 20", "half 20", "record 21", "half 21"]
        )
        let last = try KeelProcess(["logs", "tail", "-n", "3"] + logs.dropFirst(2)).wait()
        #expect(messages(last.output) == ["half 48", "record 49", "half 49"])
        let wrong = try KeelProcess(logs + ["--matches", "("]).wait()
        #expect(wrong.code == 64 && wrong.errors.contains("regular expression"))
    }

    @Test("A sealed journal is read with its keyset")
    func sealedJournal() async throws {
        let (keyset, key) = (scratch.file("keys.json").path, scratch.file("key").path)
        let made = try KeelProcess([
            "keyset", "create", keyset, "--key-file", key, "--algorithm", "AES256_GCM",
        ]).wait()
        try #require(made.code == 0, "\(made.errors)")
        let keys = KeysetFile(at: URL(filePath: keyset), under: KeyFileSource(path: key))
        var configuration = JournalConfiguration()
        configuration.sealing = KeyRing(try await keys.load())
        let folder = scratch.file("sealed")
        log(0..<5, to: OTLPLogOutput(try Journal(at: folder, configuration: configuration)))
        let query = ["logs", "query", folder.path, "--json"]
        let opened = try KeelProcess(query + ["--keyset", keyset, "--key-file", key]).wait()
        #expect(opened.code == 0, "\(opened.errors)")
        #expect(messages(opened.output) == (0..<5).map { "record \($0)" })
        let refused = try KeelProcess(query).wait()
        #expect(refused.code == 1 && refused.output.isEmpty)
        #expect(try KeelProcess(query + ["--keyset", keyset]).wait().code == 64)
    }

    @Test("Missing logs, invalid records and wrong arguments are reported")
    func failures() throws {
        let missing = try KeelProcess(["logs", "query", scratch.file("none").path]).wait()
        #expect(missing.code == 1 && missing.errors.contains("There is no log at"))
        let folder = try KeelProcess(["logs", "query", scratch.folder.path]).wait()
        #expect(folder.code == 1 && folder.errors.contains("There is no journal in"))
        let foreign = try scratch.file("foreign.log", holding: "[INFO] plain text\n")
        let left = try KeelProcess(["logs", "query", foreign.path]).wait()
        #expect(left.code == 2 && left.output.isEmpty && left.errors.hasPrefix("1 line is"))
        let record = try KeelProcess(["logs", "query", foreign.path, "--json"]).wait()
        #expect(record.code == 2 && record.errors.hasPrefix(#"{"message":"1 line is"#))
        for arguments in [["--where", "x"], ["--since", "soon"], ["--limit", "0"]] {
            #expect(try KeelProcess(["logs", "query", path] + arguments).wait().code == 64)
        }
        let wrong = try KeelProcess(["logs", "query", path, "--where", "parity=even"]).wait()
        #expect(wrong.code == 64 && wrong.errors.contains("type 'parity == even'"))
        let list = ["logs", "query", path, "--where", "parity == [even, odd]"]
        let listed = try KeelProcess(list).wait()
        #expect(listed.code == 64 && listed.errors.contains("'user in [7, 8]'"))
    }
}
#endif
