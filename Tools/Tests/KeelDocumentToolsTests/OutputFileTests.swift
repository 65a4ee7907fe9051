#if os(Linux) || os(macOS)
import Foundation
import KeelDocumentTools
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Files that commands write, and the store", .timeLimit(.minutes(10)))
struct OutputFileTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let set = ["documents", "set", "c/a", "{}", "--storage", "s.sqlite"]
        try #require(try KeelProcess(set, in: scratch.folder).wait().code == 0)
        try FileManager.default.createSymbolicLink(
            at: scratch.file("link.sqlite"),
            withDestinationURL: scratch.file("s.sqlite")
        )
        _ = try scratch.file("in", holding: "{\"id\":\"b\"}\noops\n")
    }

    @Test(
        "A command refuses to write over the store, and leaves it as it was",
        arguments: [
            ["export", "c", "--storage", "s.sqlite", "-o", "s.sqlite"],
            ["export", "c", "--storage", "s.sqlite", "-o", "./s.sqlite-wal"],
            ["export", "c", "--storage", "link.sqlite", "-o", "s.sqlite"],
            ["export", "c", "--storage", "s.sqlite", "-o", "link.sqlite"],
            ["import", "in", "c", "--storage", "s.sqlite", "--bad-lines", "s.sqlite"],
            ["import", "in", "c", "--storage", "s.sqlite", "--checkpoint", "link.sqlite"],
            ["import", "in", "c", "--storage", "new.sqlite", "--checkpoint", "./new.sqlite"],
            ["copy", "s.sqlite", "new.sqlite", "--checkpoint", "s.sqlite"],
            ["copy", "s.sqlite", "new.sqlite", "--checkpoint", "new.sqlite"],
        ]
    )
    func refused(arguments: [String]) throws {
        let result = try KeelProcess(["documents"] + arguments, in: scratch.folder).wait()
        #expect(result.code == ToolExit.usage.rawValue, "\(result.errors)")
        #expect(result.errors.contains("would be overwritten\nName another file for --"))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("new.sqlite").path))
        let get = ["documents", "get", "c/a", "--storage", "s.sqlite"]
        #expect(try KeelProcess(get, in: scratch.folder).wait().code == 0)
    }

    @Test(
        "A checkpoint replaces no file that is something else",
        arguments: [
            ["import", "in", "c", "--storage", "new.sqlite"], ["copy", "s.sqlite", "new.sqlite"],
        ]
    )
    func checkpoint(arguments: [String]) throws {
        let file = try scratch.file("notes.txt", holding: "notes")
        let line = ["documents"] + arguments + ["--checkpoint", "notes.txt"]
        let result = try KeelProcess(line, in: scratch.folder).wait()
        #expect(result.code == ToolExit.failed.rawValue)
        #expect(result.errors.contains("Name another file for --checkpoint"), "\(result.errors)")
        #expect(try file.text == "notes")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("new.sqlite").path))
    }

    @Test("A checkpoint that cannot be read does not count as missing")
    func unreadableCheckpoint() throws {
        // Unlike a file without permissions, a folder cannot be read by root either.
        #expect(throws: ToolError.self) { try ImportCheckpoint.read(scratch.folder) }
        #expect(throws: ToolError.self) { try CopyCheckpoint.read(scratch.folder, of: "a copy") }
    }

    @Test("An argument that is not UTF-8 is refused, before it becomes another name")
    func otherBytes() throws {
        let script = #""$keel" documents set "$(printf 'c/\351')" '{}' --storage new.sqlite"#
        let result = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(result.code == ToolExit.usage.rawValue)
        #expect(result.errors.contains("is not UTF-8"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("new.sqlite").path))
    }

    @Test("A variable that is not UTF-8 is refused, before it becomes another name")
    func otherBytesOfVariable() throws {
        let script = #"KEEL_STORAGE="$(printf 'new\351.sqlite')" "$keel" documents set c/b '{}'"#
        let result = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(result.code == ToolExit.usage.rawValue)
        #expect(result.errors.contains("KEEL_STORAGE"), "\(result.errors)")
        #expect(result.errors.contains("is not UTF-8"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("new\u{FFFD}.sqlite").path))
    }

    @Test("A file that replaces another one has its permissions", arguments: [0o600, 0o664])
    func permissions(mode: Int) throws {
        let file = try scratch.file("out", holding: "")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let script = #"umask 022; exec "$keel" documents export c --storage s.sqlite -o out"#
        let export = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(export.code == 0, "\(export.errors)")
        #expect(try file.text.contains("c/a"))
        let found = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect((found as? NSNumber)?.intValue == mode)
    }

    @Test("A file can have the longest name")
    func longName() throws {
        let file = scratch.file(String(repeating: "é", count: 127) + "x")
        var output = try ReplacedFile(file)
        try output.append(line: Array("text".utf8))
        try output.finish()
        #expect(try file.text == "text\n")
    }

    @Test("Two paths of one file are one store", arguments: ["copy", "diff"])
    func oneStore(command: String) throws {
        for other in ["./s.sqlite", "link.sqlite"] {
            let arguments = ["documents", command, "s.sqlite", other]
            let result = try KeelProcess(arguments, in: scratch.folder).wait()
            #expect(result.code == ToolExit.usage.rawValue)
            #expect(result.errors.contains("The two stores are the same"), "\(result.errors)")
        }
    }
}
#endif
