#if os(Linux) || os(macOS)
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelToolsTestSupport
import Testing

@Suite("Passphrases and answers that are typed at a terminal", .timeLimit(.minutes(10)))
struct TypedAnswersTests {
    private let scratch: Scratch
    private let plain: URL
    private let sealed: URL

    init() throws {
        scratch = try Scratch()
        plain = try scratch.file("plain", holding: "the text")
        sealed = scratch.file("plain.keel")
    }

    private func type(_ lines: String..., into terminal: TmuxTerminal) async throws {
        for (prompt, line) in zip(["Passphrase:", "Passphrase again:"], lines) {
            try await terminal.wait(forLast: prompt)
            try terminal.type(line)
            try terminal.press("Enter")
        }
    }

    private func encrypting() throws -> TmuxTerminal {
        try TmuxTerminal(["encrypt", plain.path, "-p", "--passphrase-memory", "1"])
    }

    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        }
    }

    @Test("A passphrase is typed twice without echo, and opens the file")
    func right() async throws {
        let encrypting = try encrypting()
        try await type("correct horse", "correct horse", into: encrypting)
        #expect(try await encrypting.exitCode() == 0)
        #expect(try !encrypting.screen().joined().contains("horse"))
        let copy = scratch.file("copy")
        let wrong = try TmuxTerminal(["decrypt", sealed.path, "-o", copy.path])
        try await type("battery", into: wrong)
        #expect(try await wrong.exitCode() == 1)
        #expect(try names == ["plain", "plain.keel"])
        let decrypting = try TmuxTerminal(["decrypt", sealed.path, "-o", copy.path])
        try await type("correct horse", into: decrypting)
        #expect(try await decrypting.exitCode() == 0)
        #expect(try String(contentsOf: copy, encoding: .utf8) == "the text")
    }

    @Test("After two different passphrases, or Control-C, nothing is written")
    func refused() async throws {
        let mismatch = try encrypting()
        try await type("correct horse", "correct hose", into: mismatch)
        #expect(try await mismatch.exitCode() == 1)
        #expect(try mismatch.screen().contains { $0.contains("the entries differ") })
        #expect(try names == ["plain"])
        let first = try encrypting()
        try await first.wait(forLast: "Passphrase:")
        try first.type("corr")
        try first.press("C-c")
        #expect(try await first.exitCode() == 130)
        let second = try encrypting()
        try await type("correct horse", into: second)
        try await second.wait(forLast: "Passphrase again:")
        try second.press("C-c")
        #expect(try await second.exitCode() == 130)
        #expect(try second.screen().contains { $0.contains("it was interrupted") })
        #expect(try names == ["plain"])
    }

    @Test("SIGTERM ends the wait for a passphrase, and nothing is left behind")
    func terminated() async throws {
        let encrypted = try KeelProcess(
            ["encrypt", plain.path, "--passphrase-variable", "OWN", "--passphrase-memory", "1"],
            environment: ["OWN": "correct horse"]
        ).wait()
        #expect(encrypted.code == 0, "\(encrypted.errors)")
        let decrypting = try TmuxTerminal(["decrypt", sealed.path, "-o", scratch.file("copy").path])
        try await decrypting.wait(forLast: "Passphrase:")
        try decrypting.send(SIGTERM)
        #expect(try await decrypting.exitCode() == 143)
        #expect(try names == ["plain", "plain.keel"])
    }

    @Test("A new file of secrets takes a typed passphrase, and a typed secret")
    func secrets() async throws {
        let place = ["--service", "app", "--store", "file:\(scratch.file("store").path)"]
        let setting = try TmuxTerminal(["secrets", "set", "token", "-p"] + place)
        try await type("correct horse", "correct horse", into: setting)
        try await setting.wait(forLast: "Secret:")
        try setting.type("s3cret")
        try setting.press("Enter")
        #expect(try await setting.exitCode() == 0)
        #expect(try !setting.screen().joined().contains("s3cret"))
        let file = try scratch.file("passphrase", holding: "correct horse\n")
        for (more, environment) in [
            (["--passphrase"], ["KEEL_PASSPHRASE_FILE": file.path]),
            (["--passphrase-variable", "OWN"], ["OWN": "correct horse"]),
        ] {
            let got = try KeelProcess(
                ["secrets", "get", "token"] + place + more,
                environment: environment
            ).wait()
            #expect(got.output == "s3cret", "\(got.errors)")
        }
    }

    @Test("A collection is deleted after a question, and without one with -y")
    func collections() async throws {
        let store = scratch.file("s.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .creating)
        let client = StorageClient(adapter)
        for id in ["a", "b"] { try await client.setDocument("c/\(id)", ["n": 1]) }
        let delete = ["documents", "delete", "c", "--storage", store]
        for (keys, code) in [(["n", "Enter"], 1), (["C-c"], 130)] {
            let terminal = try TmuxTerminal(delete, columns: 200)
            try await terminal.wait(for: "Delete all documents of “c” in")
            for key in keys { try terminal.press(key) }
            #expect(try await terminal.exitCode() == code)
            #expect(try await client.count(DocumentQuery("c")) == 2)
            let declined = try terminal.screen().contains { $0.contains("nothing was deleted") }
            #expect(declined == (code == 1))
        }
        let piped = try KeelProcess(delete).wait()
        #expect(piped.code == 1 && piped.errors.contains("Add --yes"))
        let terminal = try TmuxTerminal(delete, columns: 200)
        try await terminal.wait(for: "? [y/N]")
        try terminal.press("y", "Enter")
        #expect(try await terminal.exitCode() == 0)
        #expect(try terminal.screen().contains("2 documents deleted"))
        let again = try KeelProcess(delete + ["-y"]).wait()
        #expect(again.code == 2 && again.output == "0 documents deleted\n")
        let one = try KeelProcess(["documents", "delete", "c/a", "--storage", store]).wait()
        #expect(one.code == 2)
    }

    @Test("A document is deleted without a question, and with what is below only after one")
    func below() async throws {
        let store = scratch.file("s.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: store, for: .creating)
        let client = StorageClient(adapter)
        for path: DocumentPath in ["c/a", "c/a/d/1", "c/b"] {
            try await client.setDocument(path, ["n": 1])
        }
        let delete = ["documents", "delete", "--storage", store]
        #expect(try KeelProcess(delete + ["c/b"]).wait().output == "1 document deleted\n")
        let piped = try KeelProcess(delete + ["c/a", "-r"]).wait()
        #expect(piped.code == 1)
        #expect(piped.errors.contains("Add --yes to delete “c/a” and all collections below."))
        #expect(try await client.count(DocumentQuery("c")) == 1)
        let terminal = try TmuxTerminal(delete + ["c/a", "-r"], columns: 200)
        try await terminal.wait(for: "Delete “c/a” and all collections below in ")
        try terminal.press("y", "Enter")
        #expect(try await terminal.exitCode() == 0)
        #expect(try terminal.screen().contains("2 documents deleted"))
    }

    @Test("A key is destroyed after a question, and without one with -y")
    func keys() async throws {
        let file = scratch.file("keys.json").path
        let key = ["--key-file", scratch.file("key").path]
        #expect(try KeelProcess(["keyset", "create", file] + key).wait().code == 0)
        let listed = try KeelProcess(["keyset", "list", file, "--json"] + key).wait().output
        let id = try #require(listed.firstMatch(of: /"id":([0-9]+)/)?.output.1)
        #expect(try KeelProcess(["keyset", "rotate", file] + key).wait().code == 0)
        let destroy = ["keyset", "destroy", file, "--id", "\(id)"] + key
        let piped = try KeelProcess(destroy).wait()
        #expect(piped.code == 1 && piped.errors.contains("nothing was destroyed"))
        func isDestroyed() throws -> Bool {
            try KeelProcess(["keyset", "list", file] + key).wait().output.contains("destroyed")
        }
        for answer in ["n", "y"] {
            let terminal = try TmuxTerminal(destroy, columns: 200)
            try await terminal.wait(for: "Destroy the key \(id) of")
            try terminal.press(answer, "Enter")
            #expect(try await terminal.exitCode() == (answer == "y" ? 0 : 1))
            #expect(try isDestroyed() == (answer == "y"))
        }
    }
}
#endif
