#if os(Linux) || os(macOS)
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTerminal
import KeelToolsTestSupport
import Testing

@Suite("Queries at a terminal", .timeLimit(.minutes(10)))
struct QueryScreenTests {
    private let scratch: Scratch
    private let store: String
    private let client: StorageClient

    init() async throws {
        scratch = try Scratch()
        store = scratch.file("s.sqlite").path
        client = StorageClient(try SQLiteStorageAdapter.opened(at: store, for: .creating))
        let long = String(repeating: "a long text ", count: 20)
        try await client.setDocument("c/1", ["name": "漢字漢字漢字漢字漢字漢字漢字", "text": .string(long)])
        try await client.setDocument("c/2", ["name": "🍣👩‍👩‍👧‍👦", "text": "short"])
    }

    private func query(_ more: String..., columns: Int = 60) throws -> TmuxTerminal {
        try TmuxTerminal(["documents", "query", "c", "--storage", store] + more, columns: columns)
    }

    @Test("A table fits the terminal, and is whole elsewhere or with --wide")
    func tables() async throws {
        let terminal = try query()
        #expect(try await terminal.exitCode() == 0)
        let lines = try terminal.screen().filter { !$0.isEmpty }
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.allSatisfy { TextWidth.of($0) <= 60 })
        #expect(lines.contains { $0.hasPrefix("1   漢字") && $0.hasSuffix("…") })
        let narrow = try query(columns: 20)
        #expect(try await narrow.exitCode() == 0)
        #expect(try narrow.screen().contains { $0.contains("1 more column; --w") })
        let wide = try query("--wide")
        #expect(try await wide.exitCode() == 0)
        #expect(try wide.screen().joined().contains("a long text a long text a long text a long"))
        let piped = try KeelProcess(["documents", "query", "c", "--storage", store]).wait()
        #expect(!piped.output.contains("…"))
    }

    @Test("--watch shows each change at a terminal, and leaves the last result behind")
    func watching() async throws {
        let terminal = try query("--watch", "--order", "name")
        try await terminal.wait(for: "2 documents · ")
        try await client.setDocument("c/3", ["name": "new", "text": "here"])
        try await terminal.wait(for: "3   new")
        try terminal.resize(columns: 30, rows: 4)
        try await terminal.wait(for: "a smaller table") { lines in
            lines.count <= 5 && lines.first?.hasPrefix("3 documents") == true
                && lines.allSatisfy { TextWidth.of($0) <= 30 }
        }
        try terminal.resize(columns: 60, rows: 24)
        try await client.deleteDocument("c/1")
        try await terminal.wait { !$0.contains { $0.hasPrefix("1 ") } }
        try terminal.press("C-c")
        #expect(try await terminal.exitCode() == 0)
        let lines = try terminal.screen().filter { !$0.isEmpty }
        #expect(lines.first?.hasPrefix("ID") == true && lines.count == 3, "\(lines)")
        let counting = try query("--watch", "--count", "--where", "text == short")
        try await counting.wait { $0.contains("1") }
        try await client.setDocument("c/4", ["text": "short"])
        try await counting.wait { $0.contains("2") }
        try counting.press("C-c")
        #expect(try await counting.exitCode() == 0)
    }

    @Test("--watch writes each change as a line of JSON where nobody looks on")
    func pipedWatch() async throws {
        let process = try KeelProcess(
            [
                "documents", "query", "c", "--storage", store, "--watch", "--plain", "--where",
                "text == short", "--select", "text",
            ]
        )
        #expect(
            process.nextLine() == #"{"change":"added","path":"c/2","document":{"text":"short"}}"#
        )
        try await client.mergeDocument("c/2", ["name": "x"])
        #expect(
            process.nextLine() == #"{"change":"modified","path":"c/2","document":{"text":"short"}}"#
        )
        try await client.mergeDocument("c/2", ["text": "other"])
        #expect(process.nextLine() == #"{"change":"removed","path":"c/2"}"#)
        process.interrupt()
        #expect(process.wait().code == 0)
    }
}

extension TmuxTerminal {
    func wait(_ condition: ([String]) -> Bool) async throws {
        try await wait(for: "the screen", condition)
    }
}
#endif
