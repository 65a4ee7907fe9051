#if os(Linux) || os(macOS)
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelToolsTestSupport
import Testing

@Suite("Work that is interrupted at a terminal", .timeLimit(.minutes(10)))
struct InterruptedWorkTests {
    private let scratch: Scratch
    private let folder: URL

    init() throws {
        scratch = try Scratch()
        folder = scratch.file("work")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The files in the folder, without those that SQLite keeps beside a store.
    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        }
    }

    /// A named pipe, which stays open until the end of the test.
    private func pipe(_ name: String) throws -> (url: URL, writing: FileHandle) {
        let url = scratch.file(name)
        try #require(mkfifo(url.path, 0o600) == 0)
        let descriptor = open(url.path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        return (url, FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    @Test("encrypt shows its progress, and leaves nothing behind")
    func encryption() async throws {
        let key = scratch.file("key").path
        let recipient = try KeelProcess(["keyset", "generate", key]).wait().output
            .trimmingCharacters(in: .newlines)
        let (source, writing) = try pipe("source")
        let terminal = try TmuxTerminal(
            ["encrypt", source.path, "-r", recipient, "-o", folder.appending(path: "out").path]
        )
        let bytes = Data(repeating: 7, count: 3 << 20)
        async let written: Void = Self.write(bytes, to: writing)
        try await terminal.wait(for: "iB")
        try await written
        try await terminal.wait(for: "the unfinished file") { _ in try names.count == 1 }
        #expect(try names.first?.hasSuffix(".part") == true)
        try terminal.press("C-c")
        #expect(try await terminal.exitCode() == 130)
        #expect(try names.isEmpty)
        let screen = try terminal.screen()
        #expect(screen.contains { $0.contains("it was interrupted") })
        #expect(!screen.contains { $0.contains("iB") })
    }

    @Test("import keeps what a resumption needs, and stores every line once")
    func importing() async throws {
        let lines = (1...20_000).map { #"{"id":"d\#($0)","number":\#($0)}"# + "\n" }
        let file = folder.appending(path: "lines.jsonl")
        try Data(lines.joined().utf8).write(to: file)
        let store = folder.appending(path: "s.sqlite").path
        let arguments = [
            "documents", "import", file.path, "c", "--storage", store, "--id", "id", "--batch", "5",
        ]
        let terminal = try TmuxTerminal(arguments)
        try await terminal.wait(for: "the share and the time left") { lines in
            lines.contains { $0.contains(" % of ") || $0.contains(" %, ") && $0.contains(" left") }
        }
        try terminal.press("C-c")
        #expect(try await terminal.exitCode() == 130)
        try await terminal.wait(for: "Run it again with --resume")
        #expect(try names == ["lines.jsonl", "lines.jsonl.keel-import", "s.sqlite"])
        let resumed = try KeelProcess(arguments + ["--resume", "--batch", "500"]).wait()
        #expect(resumed.code == 0)
        #expect(resumed.output.hasPrefix("20000 documents imported, "))
        #expect(try names == ["lines.jsonl", "s.sqlite"])
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .reading)
        #expect(try await StorageClient(adapter).count(DocumentQuery("c")) == 20_000)
    }

    @Test("import of standard input removes its copy, at whatever moment it ends")
    func importingFromPipe() async throws {
        let (source, writing) = try pipe("source")
        let temporary = scratch.file("tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        let terminal = try TmuxTerminal(
            ["documents", "import", "-", "c", "--storage", folder.appending(path: "s").path],
            input: source,
            environment: ["TMPDIR": temporary.path]
        )
        try await Self.write(Data(#"{"a":1}"#.utf8), to: writing)
        func copies() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: temporary.path)
        }
        try await terminal.wait(for: "the copy") { _ in try copies().count == 1 }
        try terminal.press("C-c")
        #expect(try await terminal.exitCode() == 130)
        #expect(try copies().isEmpty && names.isEmpty)
    }

    @Test("Nothing is drawn with --quiet, and errors stay readable")
    func quiet() async throws {
        let (source, writing) = try pipe("source")
        let key = scratch.file("key").path
        let recipient = try KeelProcess(["keyset", "generate", key]).wait().output
            .trimmingCharacters(in: .newlines)
        let terminal = try TmuxTerminal(
            ["encrypt", source.path, "-q", "-r", recipient, "-o", folder.appending(path: "o").path]
        )
        try await Self.write(Data(repeating: 7, count: 3 << 20), to: writing)
        try await terminal.wait(for: "the unfinished file") { _ in try names.count == 1 }
        #expect(try terminal.screen().allSatisfy(\.isEmpty))
        try terminal.press("C-c")
        #expect(try await terminal.exitCode() == 130)
    }

    #if os(Linux)
    @Test("The end of the terminal leaves nothing behind, and does not end what runs under nohup")
    func hangUp() async throws {
        let (source, writing) = try pipe("source")
        let recipient = try KeelProcess(["keyset", "generate", scratch.file("key").path]).wait()
            .output.trimmingCharacters(in: .newlines)
        let command = [
            try KeelProcess.program().path, "encrypt", source.path, "-r", recipient, "-o",
            folder.appending(path: "out").path,
        ]
        // The tests themselves may ignore the signal.
        let env = URL(filePath: "/usr/bin/env")
        let ended = try KeelProcess(["--default-signal=HUP"] + command, program: env)
        try await waitUntil { try !ended.isRunning || !names.isEmpty }
        ended.hangUp()
        #expect(ended.wait().code == 129)
        #expect(try names.isEmpty)
        let kept = try KeelProcess(command, program: URL(filePath: "/usr/bin/nohup"))
        try await waitUntil { try !kept.isRunning || !names.isEmpty }
        kept.hangUp()
        try writing.close()
        #expect(kept.wait().code == 0)
        #expect(try names == ["out"])
    }
    #endif

    @Test("Nothing is drawn between data that go to the same terminal")
    func data() async throws {
        let (source, writing) = try pipe("source")
        let key = scratch.file("key").path
        let recipient = try KeelProcess(["keyset", "generate", key]).wait().output
            .trimmingCharacters(in: .newlines)
        let terminal = try TmuxTerminal(
            ["encrypt", source.path, "--armor", "-o", "-", "-r", recipient]
        )
        try await Self.write(Data("0123456789".utf8), to: writing)
        try await terminal.wait(for: "-----BEGIN")
        try writing.close()
        #expect(try await terminal.exitCode() == 0)
        let screen = try terminal.screen()
        #expect(screen.contains { $0.hasPrefix("-----END") }, "\(screen)")
        #expect(!screen.contains { $0.contains("10 B") }, "\(screen)")
    }

    /// Writes bytes, and waits for the reader if they do not fit into the pipe.
    private static func write(_ bytes: Data, to handle: FileHandle) async throws {
        let descriptor = handle.fileDescriptor
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
                        try handle.write(contentsOf: bytes)
                    }
                )
            }
        }
    }
}
#endif
