#if os(Linux) || os(macOS)
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTerminal
import KeelTestKit
import KeelToolsTestSupport
import Testing

@Suite("The command keel documents shell", .timeLimit(.minutes(10)))
struct ShellTests {
    private let scratch: Scratch
    private let store: String

    init() async throws {
        scratch = try Scratch()
        store = scratch.file("s.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .creating)
        let client = StorageClient(adapter)
        try await client.setDocument("users/ada", ["name": "Ada", "born": 1815])
        try await client.setDocument("users/alan", ["name": "Alan", "born": 1912])
        try await client.setDocument("users/grace", ["name": "Grace", "born": 1906])
        try await client.setDocument("users/ada/notes/1", ["text": "漢字 🍣"])
        try adapter.close()
    }

    private func shell(columns: Int = 80) throws -> TmuxTerminal {
        try TmuxTerminal(
            ["documents", "shell", "--storage", store],
            columns: columns,
            environment: ["XDG_STATE_HOME": scratch.file("state").path]
        )
    }

    /// Presses Tab until a completion is on the screen, as the shell gives one up that takes longer than two seconds.
    private func complete(
        in terminal: TmuxTerminal,
        _ condition: ([String]) -> Bool
    ) async throws {
        for _ in 0..<5 {
            try terminal.press("Tab")
            let lines = try? await terminal.wait(for: "it", within: .seconds(10), condition)
            guard lines == nil else { return }
        }
        try await terminal.wait(for: "the completion", condition)
    }

    @Test("Words are completed, commands run, and an error ends nothing")
    func conversation() async throws {
        let terminal = try shell()
        try await terminal.wait(forLast: "/>")
        try terminal.type("cd us")
        try await complete(in: terminal) { $0.last { !$0.isEmpty } == "/> cd users/" }
        try terminal.press("Enter")
        try await terminal.wait(forLast: "/users>")
        // Two names begin with “a”: their common beginning is inserted, then both are listed.
        try terminal.type("get ")
        try await complete(in: terminal) { $0.contains { $0.contains("ada    alan   grace") } }
        try terminal.type("ad")
        try await complete(in: terminal) { $0.last { !$0.isEmpty } == "/users> get ada" }
        try terminal.press("Enter")
        try await terminal.wait(for: "born  1815")
        try terminal.type("query --wh")
        try await complete(in: terminal) { $0.last { !$0.isEmpty } == "/users> query --where" }
        try terminal.type("na")
        try await complete(in: terminal) {
            $0.last { !$0.isEmpty } == "/users> query --where 'name"
        }
        try terminal.type("== Grace' --select born")
        try terminal.press("Enter")
        try await terminal.wait(for: "grace  1906")
        try terminal.type("nope")
        try terminal.press("Enter")
        try await terminal.wait(for: "there is no command “nope”")
        try terminal.type("get nobody")
        try terminal.press("Enter")
        try await terminal.wait(for: "there is no document at “users/nobody”")
        try terminal.type("count --where 'born < 1910'")
        try terminal.press("Enter")
        try await terminal.wait { $0.contains("2") && $0.last { !$0.isEmpty } == "/users>" }
        try terminal.press("C-d")
        #expect(try await terminal.exitCode() == 0)
        let history = scratch.file("state/keel/documents-history")
        let mode = try FileManager.default.attributesOfItem(atPath: history.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let lines = try String(contentsOf: history, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "cd users/" && lines.contains("nope"))
    }

    @Test("Documents are written, changed, and deleted after a question")
    func changes() async throws {
        let terminal = try shell()
        try await terminal.wait(forLast: "/>")
        try terminal.type(#"set /users/joan {"name": "Joan", "tags": ["a", "b"]}"#)
        try terminal.press("Enter")
        try await terminal.wait(for: "users/joan is at revision")
        try terminal.type(#"update users/joan {"born": 1917}"#)
        try terminal.press("Enter")
        try await terminal.wait(forLast: "/>")
        try terminal.type("get users/joan --plain")
        try terminal.press("Enter")
        try await terminal.wait(for: #"{"born":1917,"name":"Joan","tags":["a","b"]}"#)
        try terminal.type("delete users/joan")
        try terminal.press("Enter")
        try await terminal.wait(for: "Delete “/users/joan”? [y/N]")
        try terminal.type("n")
        try terminal.press("Enter")
        try await terminal.wait(for: "nothing was deleted")
        try terminal.type("delete users/joan")
        try terminal.press("Enter")
        try await terminal.wait { $0.count { $0.contains("? [y/N]") } == 2 }
        try terminal.type("y")
        try terminal.press("Enter")
        try await terminal.wait(for: "1 document deleted")
        try terminal.type("ls users/ada")
        try terminal.press("Enter")
        try await terminal.wait(for: "notes/")
        try terminal.type("exit")
        try terminal.press("Enter")
        #expect(try await terminal.exitCode() == 0)
    }

    @Test("Control-C abandons a line and ends a command, and the shell goes on")
    func interruptions() async throws {
        let terminal = try shell()
        try await terminal.wait(forLast: "/>")
        try terminal.type("never run")
        try terminal.press("C-c")
        try await terminal.wait { lines in
            lines.contains("/> never run^C") && lines.last { !$0.isEmpty } == "/>"
        }
        for _ in 0..<2 {
            try terminal.type("watch users")
            try terminal.press("Enter")
            try await terminal.wait(for: "added     users/grace")
            try terminal.press("C-c")
            try await terminal.wait(forLast: "/>")
            try terminal.press("C-l")
            try await terminal.wait { $0.first == "/>" && $0.count { !$0.isEmpty } == 1 }
        }
        // A question is a command that runs.
        try terminal.type("delete users")
        try terminal.press("Enter")
        try await terminal.wait(for: "Delete all documents of “/users”? [y/N]")
        try terminal.press("C-c")
        try await terminal.wait(forLast: "/>")
        try terminal.type("count users")
        try terminal.press("Enter")
        try await terminal.wait { $0.contains("3") && $0.last { !$0.isEmpty } == "/>" }
    }

    @Test("A line is edited, searched for, and drawn anew where the window is resized")
    func editing() async throws {
        let terminal = try shell(columns: 60)
        try await terminal.wait(forLast: "/>")
        try terminal.type("pwd one")
        try terminal.press("C-w")
        try terminal.press("Enter")
        try await terminal.wait { $0.contains("/") && $0.last { !$0.isEmpty } == "/>" }
        try terminal.type("help")
        try terminal.press("Enter")
        try await terminal.wait(for: "leaves, as Control-D does")
        // Until the shell reads keys again, the terminal itself would take Control-R.
        try await terminal.wait(forLast: "/>")
        try terminal.press("C-r")
        try terminal.type("pw")
        try await terminal.wait(forLast: "search “pw”: pwd")
        try terminal.press("C-c")
        try await terminal.wait(forLast: "/>")
        try terminal.press("Up", "Up")
        try await terminal.wait(forLast: "/> pwd")
        try terminal.press("C-u", "C-l")
        try await terminal.wait { $0.first == "/>" && $0.count { !$0.isEmpty } == 1 }
        let text = String(repeating: "漢字 word ", count: 12) + "end"
        func isShown(_ columns: Int) -> ([String]) -> Bool {
            { lines in
                let shown = lines.filter { !$0.isEmpty }
                let all = shown.joined().filter { $0 != " " }
                return all == "/>" + text.filter { $0 != " " }
                    && shown.allSatisfy { TextWidth.of($0) <= columns }
            }
        }
        try terminal.type(text)
        try await terminal.wait(for: "the whole line", isShown(60))
        for columns in [37, 25, 90, 60] {
            try terminal.resize(columns: columns)
            try await terminal.wait(for: "the line in \(columns) columns", isShown(columns))
        }
        try terminal.press("Home")
        try terminal.type("echo ")
        try await terminal.wait { $0.first?.hasPrefix("/> echo 漢字") == true }
    }

    @Test("A missing store is named at the start, and set creates it")
    func missingStore() async throws {
        let missing = scratch.file("missing.sqlite").path
        let terminal = try TmuxTerminal(
            ["documents", "shell", "--storage", missing],
            columns: 200,
            environment: ["XDG_STATE_HOME": scratch.file("state").path]
        )
        let start = try await terminal.wait(forLast: "/>")
        #expect(start.contains("keel: there is no store at “\(missing)”"), "\(start)")
        try terminal.type("set users/ada {}")
        try terminal.press("Enter")
        try await terminal.wait(for: "users/ada is at revision")
    }

    @Test("Control characters of a name do not reach a terminal, and reach a pipe")
    func controls() async throws {
        let id = "a\u{1B}[2Jb"
        let set = ["documents", "set", "users/\(id)", "{}", "--storage", store]
        let terminal = try TmuxTerminal(set)
        #expect(try await terminal.exitCode() == 0)
        try await terminal.wait(for: "users/a\u{FFFD}[2Jb is at revision")
        #expect(try KeelProcess(set).wait().output.hasPrefix("users/\(id) is"))
        let get = try TmuxTerminal(["documents", "get", "users/\(id)/x/1", "--storage", store])
        #expect(try await get.exitCode() == 1)
        #expect(try get.screen().joined().contains("a\u{FFFD}[2Jb"))
    }

    @Test("Lines from a pipe are a script, which ends with the line that fails")
    func scripts() throws {
        let good = """
            # A comment, and an empty line.

            cd users
            get ada --plain
            set mary {"name": "Mary"}
            count
            delete mary --yes
            ls
            """
        let done = try KeelProcess(["documents", "shell", "--storage", store], input: good).wait()
        #expect(done.code == 0, "\(done.errors)")
        let lines = done.output.split(separator: "\n")
        #expect(lines.first == #"{"born":1815,"name":"Ada"}"#)
        #expect(lines.dropFirst(2) == ["4", "1 document deleted", "ada", "alan", "grace"])
        let bad = "pwd\ncount nowhere/x\npwd\n"
        let failed = try KeelProcess(["documents", "shell", "--storage", store], input: bad).wait()
        #expect(failed.code == 1)
        #expect(failed.output == "/\n")
        let json = try KeelProcess(
            ["documents", "shell", "--json", "--storage", store],
            input: "cd users\npwd\n"
        ).wait()
        #expect(json.output == "{\"path\":\"users\"}\n")
        #expect(failed.errors.contains("“/nowhere/x” is not a collection"))
        #expect(failed.errors.contains("line 2 failed: count nowhere/x"))
        let asking = try KeelProcess(
            ["documents", "shell", "--storage", store],
            input: "delete users/ada\n"
        ).wait()
        #expect(asking.code == 1)
        #expect(asking.errors.contains("add --yes"))
        let wrong = try KeelProcess(
            ["documents", "shell", "--storage", store],
            input: "query users --nonsense\n"
        ).wait()
        #expect(wrong.code == 1)
        #expect(wrong.errors.contains("Unknown option '--nonsense'"))
    }

    @Test("Control-C ends a script that waits for its next line")
    func interruptedScript() async throws {
        let descriptor = open(try scratch.pipe("lines").path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        let lines = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer { try? lines.close() }
        let shell = try KeelProcess(
            shell: "exec \"$keel\" documents shell --storage \(store) < lines",
            in: scratch.folder
        )
        try lines.write(contentsOf: Data("pwd\n".utf8))
        #expect(shell.nextLine() == "/")
        // The first one can come while the line ends.
        try await waitUntil {
            shell.interrupt()
            return !shell.isRunning
        }
        #expect(shell.wait().code == 130)
    }
}
#endif
