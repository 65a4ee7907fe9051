import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

#if os(Linux) || os(macOS)
@Suite("The command keel documents", .timeLimit(.minutes(30)))
struct CommandLineTests {
    @Test("A killed import resumes and stores every line exactly once")
    func killedImport() async throws {
        let scratch = try Scratch()
        let file = try scratch.numberedLines(20_000)
        let store = scratch.file("s.sqlite").path
        let arguments = [
            "documents", "import", file.path, "c", "--storage", store, "--id", "id", "--batch", "5",
        ]
        let process = try KeelProcess(arguments)
        let checkpoint = DocumentImport.Settings(file: file).checkpointFile
        var imported = 0
        // Without a yield: other tests here block their threads, and the import would end meanwhile.
        while process.isRunning, imported < 100 {
            imported = (try? ImportCheckpoint.read(checkpoint)?.imported) ?? imported
        }
        process.kill()
        let killed = process.wait()
        try #require(killed.code == 9)
        let other = scratch.file("other.sqlite").path
        for wrong in [
            arguments.map { $0 == store ? other : $0 }, arguments + ["--bad-lines", file.path],
        ] {
            let refused = try KeelProcess(wrong + ["--resume"]).wait()
            #expect(refused.code != 0, "\(wrong)")
        }
        #expect(!FileManager.default.fileExists(atPath: other))
        let resumed = try KeelProcess(arguments + ["--resume", "--json"]).wait()
        #expect(resumed.code == 0)
        #expect(resumed.output.contains(#""imported":20000"#))
        #expect(!resumed.output.contains(#""alreadyImported":0,"#))
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .reading)
        let documents = try await adapter.all("c")
        #expect(documents.count == 20_000)
        #expect(documents.allSatisfy { $0.createTime == $0.updateTime })
        let numbers = documents.compactMap { $0["number"]?.integerValue }
        #expect(numbers.sorted() == Array(1...20_000))
    }

    @Test(
        "A wrong path, or wrong fields, bring the usage of the command",
        arguments: [
            (["get", "users"], "get"), (["set", "users", "{}"], "set"),
            (["set", "c/a", "{oops"], "set"), (["set", "c/a", "[]"], "set"),
            (["delete", "users/"], "delete"), (["delete", ""], "delete"),
            (["watch", "c//a"], "watch"), (["export", "c/a"], "export"),
            (["import", "f", "c/a"], "import"), (["import", "f", "--bad-lines", "-"], "import"),
            (["query", "c", "--collection", "c"], "query"),
            (["query", "c", "--order", "n:up"], "query"),
        ]
    )
    func usage(arguments: [String], command: String) throws {
        let result = try KeelProcess(["documents"] + arguments + ["--storage", "/none/s"]).wait()
        #expect(result.code == 64)
        #expect(result.errors.contains("Usage: keel documents \(command) "), "\(result.errors)")
    }

    @Test("Wrong fields on standard input are named without the usage")
    func wrongInput() throws {
        let scratch = try Scratch()
        let store = ["--storage", scratch.file("s.sqlite").path]
        let result = try KeelProcess(["documents", "set", "c/a", "-"] + store, input: "[]").wait()
        #expect(result.code == 64)
        #expect(result.errors.contains("the fields are not a JSON object"), "\(result.errors)")
        #expect(!result.errors.contains("Usage"))
    }

    @Test("Standard input that cannot be read is named with what to do")
    func unreadableInput() throws {
        let scratch = try Scratch()
        let script = "\"$keel\" documents set c/a - --storage s.sqlite < ."
        let result = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(result.code == 1)
        #expect(result.errors.hasPrefix("keel: standard input cannot be read: "))
        #expect(result.errors.split(separator: "\n").count == 2, "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.isEmpty)
    }

    @Test("Exit codes distinguish a failure, findings and a wrong command line")
    func exitCodes() throws {
        let scratch = try Scratch()
        let file = try scratch.file("in", holding: "{\"id\":\"a\"}\noops\n")
        let store = ["--storage", scratch.file("s.sqlite").path]
        let missing = try KeelProcess(["documents", "get", "c/a"] + store).wait()
        #expect(missing.code == ToolExit.failed.rawValue)
        #expect(missing.errors.contains("there is no store"))
        let bad = try KeelProcess(
            ["documents", "import", file.path, "c", "--id", "id"] + store
        ).wait()
        #expect(bad.code == ToolExit.findings.rawValue)
        #expect(bad.errors.contains("line 2: the text is not valid JSON"))
        #expect(bad.output == "1 document imported; 1 bad line left out\n")
        let record = try KeelProcess(
            ["documents", "import", file.path, "c", "--id", "id", "--json"] + store
        ).wait()
        #expect(record.errors.hasPrefix(#"{"line":2,"reason":"the text is not valid JSON"#))
        let found = try KeelProcess(["documents", "get", "c/a", "--plain"] + store).wait()
        #expect(found.code == ToolExit.done.rawValue)
        #expect(found.output == "{\"id\":\"a\"}\n")
        let absent = try KeelProcess(["documents", "get", "c/b", "--json"] + store).wait()
        #expect(absent.code == ToolExit.failed.rawValue)
        #expect(absent.errors.contains(#""code":"documentNotFound","error":"there is no "#))
        let shown = try KeelProcess(["documents", "get", "c/b"] + store).wait()
        let lines = shown.errors.split(separator: "\n")
        #expect(lines.first == "keel: there is no document at “c/b”")
        #expect(lines.last?.hasPrefix("Check the path: keel documents query ") == true)
        for wrong in [
            ["get", "c"], ["query", "c", "--where", "x"], ["delete"], ["import", file.path],
            ["import", file.path, "c", "--exact"],
        ] {
            let result = try KeelProcess(["documents"] + wrong + store).wait()
            #expect(result.code == ToolExit.usage.rawValue, "\(wrong)")
            let json = try KeelProcess(["documents"] + wrong + store + ["--json"]).wait()
            #expect(json.code == ToolExit.usage.rawValue)
            #expect(json.errors.hasPrefix(#"{"advice":"#), "\(json.errors)")
        }
        let none = scratch.file("none.sqlite").path
        let nameless = try KeelProcess(["documents", "import", file.path, "--storage", none]).wait()
        #expect(nameless.errors.contains("keel documents import FILE COLLECTION"))
        #expect(!FileManager.default.fileExists(atPath: none))
        let usage = try KeelProcess(["documents", "delete"] + store).wait()
        #expect(usage.errors.hasPrefix("keel: Missing expected argument '<path>'"))
    }

    @Test("A second file is not taken for a collection")
    func secondFile() throws {
        let scratch = try Scratch()
        for name in ["a.jsonl", "b.jsonl"] { _ = try scratch.file(name, holding: "{}\n") }
        for arguments in [
            ["import", "a.jsonl", "b.jsonl", "--storage", "s.sqlite"],
            ["copy", "a.sqlite", "s.sqlite", "b.jsonl"],
            ["diff", "a.sqlite", "s.sqlite", "b.jsonl"],
        ] {
            let result = try KeelProcess(["documents"] + arguments, in: scratch.folder).wait()
            #expect(result.code == 64 && result.errors.contains("“b.jsonl” is a file"))
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("s.sqlite").path))
    }

    @Test("A word, and an address without its scheme, are not the path of a store")
    func words() throws {
        let scratch = try Scratch()
        let set = ["documents", "set", "c/a", "{}", "--storage"]
        for place in ["memory", "notes", "localhost:8080"] {
            #expect(try KeelProcess(set + [place], in: scratch.folder).wait().code == 64)
        }
        let copy = ["documents", "copy", "./memory"]
        for place in ["./memory", "sqlite:memory"] {
            #expect(try KeelProcess(set + [place], in: scratch.folder).wait().code == 0)
        }
        // The second store is forgotten.
        #expect(try KeelProcess(copy + ["c"], in: scratch.folder).wait().code == 64)
        let doctor = ["storage", "doctor", "sqlite:memory"]
        let checked = try KeelProcess(doctor, in: scratch.folder).wait()
        #expect(checked.code == 0 && checked.output.contains("no corruption"), "\(checked.output)")
    }

    @Test("A reader that leaves ends an export silently, and a full output is named")
    func pipes() throws {
        let scratch = try Scratch()
        let file = try scratch.numberedLines(20_000)
        let store = scratch.file("s.sqlite").path
        let imported = try KeelProcess(
            ["documents", "import", file.path, "c", "--storage", store, "--id", "id"]
        ).wait()
        try #require(imported.code == 0, "\(imported.errors)")
        let server = try ServedProcess(store, port: 0)
        defer { server.kill() }
        for place in [server.address.absoluteString, store] {
            let export = "\"$keel\" documents export c --storage \(place)"
            let left = try KeelProcess(
                shell: "{ \(export); echo $? > code; } | head -1",
                in: scratch.folder
            ).wait()
            #expect(left.output.split(separator: "\n").count == 1)
            #expect(left.errors.isEmpty, "\(left.errors)")
            #expect(try String(contentsOf: scratch.file("code"), encoding: .utf8) == "141\n")
            let full = try KeelProcess(shell: "\(export) > /dev/full").wait()
            #expect(full.code == 1 && full.errors.contains("standard output is full"))
            #expect(!full.errors.contains("--help"))
        }
    }

    @Test("A closed standard stream is an error, and no file or connection gets its number")
    func closedStreams() throws {
        let scratch = try Scratch()
        let store = scratch.file("s.sqlite").path
        let set = try KeelProcess(["documents", "set", "c/a", "{}", "--storage", store]).wait()
        try #require(set.code == 0, "\(set.errors)")
        let server = try ServedProcess(store, port: 0)
        defer { server.kill() }
        for place in [server.address.absoluteString, store] {
            let command = "\"$keel\" documents export c --storage \(place)"
            let closed = try KeelProcess(shell: "\(command) >&-").wait()
            #expect(closed.code == 1)
            #expect(closed.errors.contains("standard output cannot be written"))
            let file = scratch.file("out.jsonl")
            let silent = "\(command) -o \(file.path) >&- 2>&-"
            #expect(try KeelProcess(shell: silent).wait().code == 1)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.hasPrefix("{\"") && text.hasSuffix("}\n"), "\(text)")
            try FileManager.default.removeItem(at: file)
        }
        let input = try KeelProcess(
            shell: "\"$keel\" documents import - c --storage \(store) <&-"
        ).wait()
        #expect(input.code == 1)
        #expect(input.errors.contains("standard input cannot be read"), "\(input.errors)")
    }

    @Test("A pipe instead of a file is refused with advice, and stays")
    func specialFiles() throws {
        let scratch = try Scratch()
        let pipe = try scratch.pipe("pipe")
        let lines = try scratch.file("lines", holding: "{\"id\":\"a\"}\noops\n").path
        let store = ["--storage", scratch.file("s.sqlite").path]
        let importing = ["documents", "import", lines, "c"]
        #expect(try KeelProcess(importing + store).wait().code == 2)
        for (arguments, advice) in [
            (["documents", "export", "c", "-o", pipe.path], "standard output: > \(pipe.path)"),
            (["documents", "import", pipe.path, "c"], "standard input: < \(pipe.path)"),
            (importing + ["--bad-lines", pipe.path], "Name a file for the bad lines."),
        ] {
            let result = try KeelProcess(arguments + store).wait()
            #expect(result.code == 1)
            #expect(result.errors.contains("“\(pipe.path)” is a pipe or a device"))
            #expect(result.errors.contains(advice), "\(result.errors)")
            #expect(scratch.isPipe(pipe))
        }
    }

    @Test("A checkpoint that cannot be written is named with the option for another one")
    func checkpoint() throws {
        let scratch = try Scratch()
        let lines = try scratch.file("lines", holding: "{}\n").path
        let nowhere = scratch.file("none/checkpoint").path
        let result = try KeelProcess(
            [
                "documents", "import", lines, "c", "--checkpoint", nowhere, "--storage",
                scratch.file("s.sqlite").path,
            ]
        ).wait()
        #expect(result.code == 1)
        #expect(result.errors.contains("the checkpoint “\(nowhere)” cannot be written: "))
        #expect(result.errors.contains("add --checkpoint"), "\(result.errors)")
    }

    @Test("A file without documents is imported, and needs no collection")
    func emptyImport() throws {
        let scratch = try Scratch()
        let script = """
            "$keel" documents set c/a '{}' --storage first.sqlite > set &&
            "$keel" documents export none --storage first.sqlite |
            "$keel" documents import - --storage second.sqlite
            """
        let piped = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(piped.code == 0 && piped.output == "0 documents imported\n", "\(piped.errors)")
        let file = try scratch.file("empty.json", holding: " [ ] \n").path
        let store = ["--storage", scratch.file("second.sqlite").path]
        let array = try KeelProcess(["documents", "import", file] + store).wait()
        #expect(array.code == 0 && array.output == "0 documents imported\n", "\(array.errors)")
    }

    @Test("A query without a result says so, except to a program")
    func nothing() throws {
        let scratch = try Scratch()
        let store = ["--storage", scratch.file("s.sqlite").path]
        #expect(try KeelProcess(["documents", "set", "a/1", "{}"] + store).wait().code == 0)
        let empty = try KeelProcess(["documents", "query", "c"] + store).wait()
        #expect(empty.code == 0 && empty.output == "no documents\n")
        let json = try KeelProcess(["documents", "query", "c", "--json"] + store).wait()
        #expect(json.code == 0 && json.output.isEmpty)
        let limited = ["documents", "query", "a", "--limit", "\(Int.max)"] + store
        #expect(try KeelProcess(limited).wait().output == "ID\n1\n")
    }

    @Test("Past documents are read from a server with history and from its file")
    func past() throws {
        let scratch = try Scratch()
        let file = scratch.file("s.sqlite").path
        let server = try ServedProcess(file, port: 0, ["--history", "1h"])
        let store = ["--storage", "\(server.address)"]
        let set = try KeelProcess(["documents", "set", "c/a", #"{"v":1}"#] + store).wait()
        #expect(set.code == 0)
        let typed = try KeelProcess(["documents", "get", "c/a", "--json"] + store).wait().output
        let time = try #require(typed.firstMatch(of: /"updateTime":"([^"]+)"/)?.1)
        let asOf = ["--as-of", String(time)]
        for change in [["set", "c/a", #"{"v":2}"#], ["set", "c/b", #"{"v":3}"#]] {
            #expect(try KeelProcess(["documents"] + change + store).wait().code == 0)
        }
        for place in [store, ["--storage", file]] {
            let get = try KeelProcess(["documents", "get", "c/a", "--plain"] + place + asOf).wait()
            #expect(get.output == "{\"v\":1}\n", "\(get.errors)")
            let query = try KeelProcess(["documents", "query", "c", "--count"] + place + asOf)
                .wait()
            #expect(query.output == "1\n")
            let export = try KeelProcess(
                ["documents", "export", "c", "--plain"] + place + asOf
            ).wait()
            #expect(export.output == "{\"v\":1}\n")
            #expect(export.errors == "")
        }
        let early = try KeelProcess(["documents", "get", "c/a", "--as-of", "2h"] + store).wait()
        #expect(early.code == ToolExit.failed.rawValue)
        let wrong = try KeelProcess(["documents", "get", "c/a", "--as-of", "noon"] + store).wait()
        #expect(wrong.code == ToolExit.usage.rawValue)
        server.kill()
    }

    @Test("Watching shows another process's changes and exits with 0 on SIGINT")
    func watching() async throws {
        let scratch = try Scratch()
        let store = ["--storage", scratch.file("s.sqlite").path]
        let first = try KeelProcess(["documents", "set", "c/a", #"{"v":1}"#] + store).wait()
        #expect(first.code == 0)
        let watch = try KeelProcess(["documents", "watch", "c", "--json"] + store)
        let initial = watch.nextLine()
        #expect(initial.contains(#"{"change":"added","path":"c/a","#))
        let second = try KeelProcess(["documents", "set", "c/b", #"{"v":2}"#] + store).wait()
        #expect(second.code == 0)
        let change = watch.nextLine()
        #expect(change.contains(#"{"change":"added","path":"c/b","#))
        watch.interrupt()
        let end = watch.wait()
        #expect(end.code == 0)
    }

    @Test(
        "Control-C ends watching also while it waits for its reader",
        arguments: [["watch", "c"], ["query", "c", "--watch"], ["shell"]]
    )
    func stalledReader(_ command: [String]) async throws {
        let scratch = try Scratch()
        let store = scratch.file("s.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .creating)
        let client = StorageClient(adapter)
        // Together more than a pipe holds.
        let text = String(repeating: "long ", count: 10_000)
        for number in 0..<10 {
            try await client.setDocument("c/\(number)", ["text": .string(text)])
        }
        try adapter.close()
        let watch = try KeelProcess(
            ["documents"] + command + ["--storage", store],
            input: "watch c\n"
        )
        #expect(watch.nextLine().contains("c/0"))
        watch.interrupt()
        try await waitUntil { !watch.isRunning }
        let code = watch.wait().code
        // A signal that the shell notices only after the line ends the shell.
        #expect(code == 0 || code == 130 && command == ["shell"])
    }

    @Test("The indexes of a file are listed and deleted by name")
    func indexes() async throws {
        let scratch = try Scratch()
        let store = scratch.file("s.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .creating)
        let index = IndexDefinition("notes", [.ascending("n")])
        try await adapter.prepare(
            StorageSchema(indexes: [index], searches: [SearchDefinition("notes", fields: ["text"])])
        )
        try adapter.close()
        func run(_ arguments: String...) throws -> (code: Int32, output: String) {
            let result = try KeelProcess(
                ["documents", "indexes"] + arguments + ["--storage", store]
            ).wait()
            return (result.code, result.output + result.errors)
        }
        let list = try run("list")
        #expect(list.code == 0)
        #expect(list.output == "notes(n+)  ready\nnotes~(text)  ready\n")
        #expect(try run("delete", "notes(m+)").output.contains("has no index “notes(m+)”"))
        #expect(try run("delete", "notes(n+)").output == "1 index deleted\n")
        #expect(try run("list", "--json").output == #"{"name":"notes~(text)","progress":1}"# + "\n")
    }

    @Test("Indexes count as ready only in a store that the command builds itself")
    func importedIndexes() throws {
        let scratch = try Scratch()
        let index = #"{"collectionGroup":"notes","fields":[{"fieldPath":"n","order":"ASCENDING"}]}"#
        let file = try scratch.file("indexes.json", holding: #"{"indexes":[\#(index)]}"#).path
        let server = try ServedProcess(scratch.file("s.sqlite").path, port: 0)
        defer { server.kill() }
        for (place, code, text) in [
            (scratch.file("t.sqlite").path, ToolExit.done, "1 index is ready."),
            (server.address.absoluteString, ToolExit.done, "declared; the server builds"),
            ("firestore:demo", ToolExit.usage, "use Google’s tools"),
        ] {
            let arguments = ["documents", "indexes", "import", file, "--storage", place]
            let result = try KeelProcess(arguments).wait()
            #expect(result.code == code.rawValue, "\(result.errors)")
            #expect(result.errors.contains(text), "\(result.errors)")
        }
    }

    @Test("Completion scripts are generated", arguments: ["bash", "zsh", "fish"])
    func completion(_ shell: String) throws {
        let result = try KeelProcess(["--generate-completion-script", shell]).wait()
        #expect(result.code == 0)
        for word in ["documents", "import", "bad-lines", "indexes"] {
            #expect(result.output.contains(word), "\(word)")
        }
    }
}
#endif
