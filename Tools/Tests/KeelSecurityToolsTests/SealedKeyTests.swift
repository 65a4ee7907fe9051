#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("Private keys under a passphrase", .timeLimit(.minutes(10)))
struct SealedKeyTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func keel(
        _ arguments: String...,
        input: String? = nil,
        passphrase: String = "correct horse"
    ) throws -> (code: Int32, output: String, errors: String) {
        let file = try scratch.file("passphrase", holding: passphrase + "\n")
        return try KeelProcess(
            arguments,
            input: input,
            environment: ["KEEL_PASSPHRASE_FILE": file.path],
            in: scratch.folder
        ).wait()
    }

    @Test("A sealed key signs with its passphrase, and with no other")
    func signing() throws {
        let made = try keel("keyset", "generate", "key", "--kind", "ed25519", "-p")
        #expect(made.code == 0, "\(made.errors)")
        let text = try String(contentsOf: scratch.file("key"), encoding: .utf8)
        #expect(text.hasPrefix("-----BEGIN KEEL SEALED FILE-----\n"))
        _ = try scratch.file("public", holding: made.output)
        _ = try scratch.file("plain", holding: "text")
        let refused = try keel("keyset", "sign", "plain", "--key", "key", passphrase: "another")
        #expect(refused.code == 1 && refused.errors.contains("passphrase"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("plain.sig").path))
        let signed = try keel("keyset", "sign", "plain", "--key", "key")
        #expect(signed.code == 0, "\(signed.errors)")
        #expect(try keel("keyset", "verify", "plain", "--key", "public").code == 0)
        #expect(try keel("keyset", "public", "key").output == made.output)
    }

    @Test("A sealed key opens files for its recipient")
    func opening() throws {
        let made = try keel("keyset", "generate", "key", "-p")
        let recipient = made.output.trimmingCharacters(in: .newlines)
        _ = try scratch.file("plain", holding: "text")
        #expect(try keel("encrypt", "plain", "-r", recipient).code == 0)
        let opened = try keel("decrypt", "plain.keel", "-i", "key", "-o", "-")
        #expect(opened.output == "text", "\(opened.errors)")
    }

    @Test("A decryption that cannot succeed is refused before the passphrase of its key is tried")
    func refusedOpening() throws {
        let made = try keel("keyset", "generate", "key", "-p")
        let recipient = made.output.trimmingCharacters(in: .newlines)
        _ = try scratch.file("plain", holding: "text")
        #expect(try keel("encrypt", "plain", "-r", recipient).code == 0)
        let taken = try keel("decrypt", "plain.keel", "-i", "key", passphrase: "another")
        #expect(taken.code == 1 && taken.errors.contains("already exists"), "\(taken.errors)")
        let missing = try keel("decrypt", "none.keel", "-i", "key", passphrase: "another")
        #expect(missing.code == 1 && missing.errors.contains("none.keel"), "\(missing.errors)")
    }

    @Test("A passphrase from a descriptor opens the file of an import, and seals the new one")
    func descriptor() throws {
        let made = try keel("keyset", "generate", "key", "--kind", "ed25519", "-p")
        let phrase = "correct horse\n"
        let options = ["-p", "--passphrase-descriptor", "0"]
        let sealed = try KeelProcess(
            ["keyset", "import", "key", "again"] + options,
            input: phrase,
            in: scratch.folder
        ).wait()
        #expect(sealed.code == 0, "\(sealed.errors)")
        #expect(try keel("keyset", "public", "again").output == made.output)
    }

    @Test("An import refuses a passphrase that neither opens the key nor seals the new one")
    func unusedPassphrase() throws {
        #expect(try keel("keyset", "generate", "clear").code == 0)
        #expect(try keel("keyset", "generate", "sealed", "-p").code == 0)
        func imported(_ file: String) throws -> (code: Int32, output: String, errors: String) {
            try KeelProcess(
                ["keyset", "import", file, "new", "--passphrase-descriptor", "0"],
                input: "correct horse\n",
                in: scratch.folder
            ).wait()
        }
        let refused = try imported("clear")
        #expect(refused.code == 64 && refused.errors.contains("Add -p"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("new").path))
        #expect(try imported("sealed").code == 0)
    }

    @Test("An import seals a key, and takes the passphrase away again")
    func imports() throws {
        let made = try keel("keyset", "generate", "-", "--kind", "p256")
        let sealed = try keel("keyset", "import", "-", "sealed", "-p", input: made.output)
        #expect(sealed.code == 0, "\(sealed.errors)")
        #expect(try keel("keyset", "import", "sealed", "-").output == made.output)
        // A file of `keel encrypt`, which is not text.
        _ = try scratch.file("clear", holding: made.output)
        #expect(try keel("encrypt", "clear", "-p").code == 0)
        #expect(try keel("keyset", "import", "clear.keel", "-").output == made.output)
        let again = try keel("keyset", "import", "clear", "sealed", "-p")
        #expect(again.code == 1 && again.errors.contains("already exists"), "\(again.errors)")
    }
}
#endif
