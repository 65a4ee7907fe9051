#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("Standard streams of keel keyset", .timeLimit(.minutes(10)))
struct StandardStreamTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func keel(
        _ arguments: String...,
        input: String? = nil
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(arguments, input: input, in: scratch.folder).wait()
    }

    @Test("A private key goes to a pipe, with nothing else")
    func keys() throws {
        let made = try keel("keyset", "generate", "-", "--kind", "ed25519")
        #expect(made.code == 0)
        #expect(made.output.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(!made.output.contains("PUBLIC"))
        #expect(try keel("keyset", "public", "-", input: made.output).output == made.errors)
        let imported = try keel("keyset", "import", "-", "-", "--format", "jwk", input: made.output)
        #expect(imported.code == 0 && imported.output.hasPrefix("{"), "\(imported.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("-").path))
    }

    @Test("Public halves and errors are JSON with --json")
    func json() throws {
        let made = try keel("keyset", "generate", "key", "--json")
        #expect(made.code == 0 && made.output.hasPrefix(#"{"publicKey":"keelpub1"#), "\(made)")
        #expect(try keel("keyset", "public", "key", "--json").output == made.output)
        for arguments in [
            ["generate", "key"], ["public", "none"], ["import", "none", "new"],
            ["sign", "key", "--key", "none"], ["verify", "key", "--key", "none"],
        ] {
            let failed = try KeelProcess(["keyset"] + arguments + ["--json"], in: scratch.folder)
                .wait()
            #expect(failed.code == 1)
            #expect(failed.errors.hasPrefix(#"{"advice":"#), "\(failed.errors)")
        }
    }

    @Test("A signature does not replace what is signed, or the key", arguments: ["plain", "key"])
    func signature(over name: String) throws {
        _ = try scratch.file("plain", holding: "text")
        #expect(try keel("keyset", "generate", "key", "--kind", "ed25519").code == 0)
        let before = try Data(contentsOf: scratch.file(name))
        let refused = try keel("keyset", "sign", "plain", "--key", "key", "-o", "./\(name)")
        #expect(refused.code == 64, "\(refused.errors)")
        #expect(try Data(contentsOf: scratch.file(name)) == before)
    }

    @Test("A private key does not go to a terminal")
    func terminal() async throws {
        let terminal = try TmuxTerminal(["keyset", "generate", "-"])
        #expect(try await terminal.exitCode() == 64)
        let screen = try terminal.screen().joined(separator: " ")
        #expect(screen.contains("not for a terminal") && screen.contains("./- is one called -"))
    }

    @Test(
        "Keysets and their keys are files",
        arguments: [
            ["keyset", "list", "-", "--key-file", "k"],
            ["keyset", "create", "-", "--key-file", "k"],
            ["keyset", "list", "keys", "--key-file", "-"],
            ["keyset", "public", "-", "--key-file", "k"],
            ["keyset", "rewrap", "keys", "--key-file", "k", "--new-key-file", "-"],
            ["keyset", "reencrypt", "-", "--keyset", "keys", "--key-file", "k"],
            ["encrypt", "f", "--keyset", "-", "--key-file", "k"],
            ["logs", "query", "l", "--keyset", "-", "--key-file", "k"],
            ["secrets", "list", "--service", "s", "--store", "file:f", "--key-file", "-"],
        ]
    )
    func refusals(arguments: [String]) throws {
        let result = try KeelProcess(arguments, in: scratch.folder).wait()
        #expect(result.code == 64)
        #expect(result.errors.contains("./- is a file called -"), "\(result.errors)")
        #expect(result.errors.contains("Usage: keel \(arguments[0])"), "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.isEmpty)
    }

    @Test(
        "Standard input is only one of the files",
        arguments: [
            ["encrypt", "-R", "-"], ["encrypt", "plain", "-R", "-", "-R", "-"],
            ["decrypt", "-i", "-"], ["decrypt", "plain.keel", "-i", "-", "-i", "-"],
            ["keyset", "sign", "-", "--key", "-"],
            ["keyset", "verify", "plain", "--key", "-", "--signature", "-"],
        ]
    )
    func oneInput(arguments: [String]) throws {
        let result = try KeelProcess(arguments, input: "text", in: scratch.folder).wait()
        #expect(result.code == 64 && result.output.isEmpty)
        #expect(result.errors.contains("only one of the files"), "\(result.errors)")
    }

    @Test("Standard input cannot have a passphrase and what it protects")
    func passphraseInput() throws {
        for arguments in [
            ["encrypt", "--passphrase-descriptor", "0"],
            [
                "secrets", "set", "token", "--service", "s", "--store", "file:f",
                "--passphrase-descriptor", "0",
            ],
        ] {
            let result = try KeelProcess(arguments, input: "text", in: scratch.folder).wait()
            #expect(result.code == 64)
            #expect(result.errors.contains("--passphrase-descriptor 3 3<FILE"))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.isEmpty)
    }

    @Test("A pipe is not replaced by a file")
    func pipes() throws {
        let pipe = try scratch.pipe("pipe")
        _ = try scratch.file("plain", holding: "text")
        let made = try keel("keyset", "generate", "key", "--kind", "ed25519")
        #expect(made.code == 0, "\(made.errors)")
        let recipient = try keel("keyset", "generate", "own").output
            .trimmingCharacters(in: .newlines)
        for arguments in [
            ["encrypt", "plain", "-r", recipient, "-o", "pipe"],
            ["keyset", "sign", "plain", "--key", "key", "-o", "pipe"],
            ["keyset", "generate", "pipe"],
        ] {
            let result = try KeelProcess(arguments, in: scratch.folder).wait()
            #expect(result.code == 1)
            #expect(result.errors.contains("is a pipe or a device"), "\(result.errors)")
            #expect(result.errors.contains("Type - in its place"), "\(result.errors)")
            #expect(scratch.isPipe(pipe))
        }
    }

    @Test("A full disk leaves no unfinished file")
    func fullDisk() throws {
        _ = try scratch.file("plain", holding: String(repeating: "text", count: 10_000))
        let recipient = try keel("keyset", "generate", "own").output
            .trimmingCharacters(in: .newlines)
        // No file may grow beyond a few blocks, as on a disk without room.
        let script = "trap '' XFSZ; ulimit -f 8; \"$keel\" encrypt plain -r \(recipient) -o out"
        let result = try KeelProcess(shell: script, in: scratch.folder).wait()
        #expect(result.code == 1)
        #expect(result.errors.contains("is full"), "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.sorted() == ["own", "plain"])
    }

    @Test("A file that is not there is reported before a passphrase is asked for")
    func missingSource() throws {
        let missing = try keel("encrypt", "nosuch", "-p")
        #expect(missing.code == 1)
        #expect(missing.errors.contains("nosuch” cannot be read"), "\(missing.errors)")
        _ = try scratch.file("plain", holding: "text")
        _ = try scratch.file("plain.keel", holding: "text")
        #expect(try keel("encrypt", "plain", "-p").errors.contains("already exists"))
    }

    @Test("Without a terminal, the ways to give a passphrase are named")
    func noTerminal() throws {
        _ = try scratch.file("plain", holding: "text")
        let result = try KeelProcess(
            shell: "setsid \"$keel\" encrypt -p plain",
            in: scratch.folder
        ).wait()
        #expect(result.code == 1)
        #expect(result.errors.contains("no terminal is available"), "\(result.errors)")
        #expect(result.errors.contains("--passphrase-descriptor 3 3<FILE"), "\(result.errors)")
        #expect(result.errors.contains("KEEL_PASSPHRASE_FILE"))
        #expect(!result.errors.contains("standard input"))
    }
}
#endif
