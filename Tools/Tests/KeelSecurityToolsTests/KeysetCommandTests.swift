#if os(Linux) || os(macOS)
import Foundation
import KeelSecurity
import KeelToolsTestSupport
import Testing

@Suite("The commands keel keyset, encrypt and decrypt", .timeLimit(.minutes(30)))
struct KeysetCommandTests {
    private struct Row: Decodable {
        let id: UInt32
        let status: String
        let isPrimary: Bool
        let algorithm: String
        let expires: String?
    }

    private typealias Outcome = (code: Int32, output: String, errors: String)

    private let scratch: Scratch
    private let keyset: URL
    private let key: [String]

    init() throws {
        scratch = try Scratch()
        keyset = scratch.file("keyset.json")
        key = ["--key-file", scratch.file("key").path]
    }

    private func keel(_ arguments: [String]) throws -> Outcome {
        try KeelProcess(arguments).wait()
    }

    /// Runs a command on the keyset.
    @discardableResult
    private func change(_ command: String, _ arguments: [String] = []) throws -> [Row] {
        let result = try keel(["keyset", command, keyset.path, "--json"] + key + arguments)
        try #require(result.code == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map { line in
            try JSONDecoder().decode(Row.self, from: Data(line.utf8))
        }
    }

    /// Runs a command on a file.
    private func run(_ command: String, _ file: URL, _ arguments: [String] = []) throws -> Outcome {
        try keel([command, file.path, "--keyset", keyset.path] + key + arguments)
    }

    private func write(_ name: String, _ count: Int) throws -> (URL, Data) {
        let file = scratch.file(name)
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try data.write(to: file)
        return (file, data)
    }

    @Test("A keyset is created once and rotated, and its keys change state")
    func lifecycle() throws {
        let made = try change("create")
        #expect(made.count == 1 && made[0].isPrimary)
        #expect(made[0].algorithm == "AES256_GCM_HKDF_64KB")
        let again = try keel(["keyset", "create", keyset.path] + key)
        #expect(again.code == 1 && again.errors.contains("already"))
        let rotated = try change("rotate", ["--expires", "2099-01-01T00:00:00Z"])
        #expect(rotated.map(\.isPrimary) == [false, true])
        #expect(rotated[1].expires == "2099-01-01T00:00:00Z")
        let old = ["--id", String(made[0].id)]
        #expect(try change("disable", old).map(\.status) == ["disabled", "enabled"])
        #expect(try change("enable", old).map(\.status) == ["enabled", "enabled"])
        #expect(try change("destroy", old + ["-y"]).map(\.status) == ["destroyed", "enabled"])
        let primary = ["--id", String(rotated[1].id)]
        let refused = try keel(["keyset", "destroy", keyset.path, "-y"] + key + primary)
        #expect(refused.code == 1 && refused.errors.contains("rotate first"))
        let table = try keel(["keyset", "list", keyset.path] + key).output
        #expect(table.contains("primary    AES256_GCM_HKDF_64KB"))
        #expect(try keel(["keyset", "list", keyset.path]).code == 64)
        #expect(try keel(["keyset", "rotate", keyset.path, "--expires", "soon"] + key).code == 64)
    }

    @Test("A file is encrypted and decrypted", arguments: [0, 1, 65_536, 3_000_000])
    func roundTrip(count: Int) throws {
        try change("create")
        let (file, data) = try write("report.pdf", count)
        let sealed = URL(filePath: file.path + ".keel")
        let result = try run("encrypt", file)
        try #require(result.code == 0, "\(result.errors)")
        #expect(try Data(contentsOf: sealed).count > count)
        #expect(try Data(contentsOf: file) == data)
        let copy = scratch.file("copy")
        #expect(try run("decrypt", sealed, ["-o", copy.path]).code == 0)
        #expect(try Data(contentsOf: copy) == data)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("Nothing is overwritten, and a failure leaves nothing behind")
    func refusals() throws {
        try change("create")
        let (file, data) = try write("report.pdf", 200_000)
        let sealed = URL(filePath: file.path + ".keel")
        #expect(try run("encrypt", file, ["--context", "reports"]).code == 0)
        let before = try Data(contentsOf: sealed)
        let again = try run("encrypt", file, ["--context", "reports"])
        #expect(again.code == 1 && again.errors.contains("already exists"))
        #expect(try Data(contentsOf: sealed) == before)
        let present = try run("decrypt", sealed, ["--context", "reports"])
        #expect(present.code == 1 && present.errors.contains("already exists"))
        #expect(try Data(contentsOf: file) == data)
        let none = ["--keyset", scratch.file("none").path] + key
        for (command, source) in [("encrypt", file), ("decrypt", sealed)] {
            let keyless = try keel([command, source.path] + none)
            #expect(keyless.code == 1 && keyless.errors.contains("already exists"))
        }

        let copy = scratch.file("copy")
        let letters = ["-o", copy.path, "--context", "letters", "--json"]
        let other = try run("decrypt", sealed, letters)
        #expect(other.code == 1 && other.errors.contains(#""code":"decryptionFailed""#))
        try before.dropLast(1).write(to: sealed)
        #expect(try run("decrypt", sealed, ["-o", copy.path, "--context", "reports"]).code == 1)
        var changed = before
        changed[before.count / 2] ^= 1
        try changed.write(to: sealed)
        #expect(try run("decrypt", sealed, ["-o", copy.path, "--context", "reports"]).code == 1)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
        #expect(try run("encrypt", scratch.file("nothing")).code == 1)
    }

    @Test("After a rotation files can be re-encrypted, and the old key can be removed")
    func reencrypts() throws {
        let old = try change("create")[0].id
        let (file, data) = try write("report.pdf", 150_000)
        #expect(try run("encrypt", file).code == 0)
        let sealed = file.path + ".keel"
        let foreign = scratch.file("foreign").path
        try Data("no stream".utf8).write(to: URL(filePath: foreign))
        try change("rotate")
        let result = try keel(
            ["keyset", "reencrypt", sealed, foreign, "--keyset", keyset.path] + key
        )
        #expect(result.code == 2)
        #expect(result.output == "1 file encrypted again, 1 unreadable\n")
        #expect(try Data(contentsOf: URL(filePath: foreign)) == Data("no stream".utf8))
        try change("destroy", ["--id", String(old), "--yes"])
        let copy = scratch.file("copy")
        #expect(try run("decrypt", URL(filePath: sealed), ["-o", copy.path]).code == 0)
        #expect(try Data(contentsOf: copy) == data)
    }

    @Test("Decrypting writes nothing, even if the key is due for destruction")
    func readOnly() async throws {
        let old = try change("create")[0].id
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let source = TestKeySource(file: scratch.file("key"))
        let keysetFile = KeysetFile(at: keyset, under: source)
        try await keysetFile.change { keyset throws(SecurityError) in
            try keyset.rotate()
            try keyset.setDates(KeyDates(destroyAfter: Date(timeIntervalSinceNow: -60)), of: old)
        }
        let before = try Data(contentsOf: keyset)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        // Root may still write, so for root the comparison proves that nothing was written.
        let folder = keyset.deletingLastPathComponent().path
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        }
        let other = try Scratch()
        let copy = other.file("copy")
        let sealed = URL(filePath: file.path + ".keel")
        let result = try run("decrypt", sealed, ["-o", copy.path])
        #expect(result.code == 0, "\(result.errors)")
        #expect(try Data(contentsOf: copy) == data)
        #expect(try Data(contentsOf: keyset) == before)
        let after = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(Set(after) == Set(names))
    }

    @Test("A clock that is ahead destroys no key: the first command after its date keeps it")
    func keepsDueKey() async throws {
        let old = try change("create")[0].id
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let keysetFile = KeysetFile(at: keyset, under: TestKeySource(file: scratch.file("key")))
        try await keysetFile.change { keyset throws(SecurityError) in
            try keyset.rotate()
            try keyset.setDates(KeyDates(destroyAfter: Date(timeIntervalSinceNow: -60)), of: old)
        }
        let (second, _) = try write("second.pdf", 100)
        #expect(try run("encrypt", second).code == 0)
        let rows = try change("rotate")
        #expect(rows.map(\.status) == ["enabled", "enabled", "enabled"])
        let copy = scratch.file("copy")
        let sealed = URL(filePath: file.path + ".keel")
        #expect(try run("decrypt", sealed, ["-o", copy.path]).code == 0)
        #expect(try Data(contentsOf: copy) == data)
    }

    @Test("Dates are honored: a waiting key becomes the primary key")
    func dates() async throws {
        let old = try change("create")[0].id
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let source = TestKeySource(file: scratch.file("key"))
        let past = Date(timeIntervalSinceNow: -60)
        let keysetFile = KeysetFile(at: keyset, under: source)
        let next = try await keysetFile.change { keyset throws(SecurityError) in
            // As if the command had created it with --not-before some time ago.
            let waiting = KeyDates(notBefore: Date(timeIntervalSinceNow: 3600))
            let id = try keyset.rotate(dates: waiting)
            try keyset.setDates(KeyDates(notBefore: past), of: id)
        }
        #expect(next.primaryID == old)
        let copy = scratch.file("copy")
        let sealed = URL(filePath: file.path + ".keel")
        #expect(try run("decrypt", sealed, ["-o", copy.path]).code == 0)
        #expect(try Data(contentsOf: copy) == data)
        // Decrypting a file does not change keys: the required one might be destroyed.
        #expect(try change("list").first { $0.isPrimary }?.id == old)
        let (second, _) = try write("second.pdf", 100)
        #expect(try run("encrypt", second).code == 0)
        #expect(try change("list").first { $0.isPrimary }?.id != old)
    }

    @Test("A keyset's key can be changed, and files are read with the new one")
    func rewrapping() async throws {
        try change("create")
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let newKey = scratch.file("new-key").path
        let result = try keel(
            ["keyset", "rewrap", keyset.path] + key + ["--new-key-file", newKey]
        )
        #expect(result.code == 0)
        let sealed = URL(filePath: file.path + ".keel")
        let copy = scratch.file("copy")
        #expect(try run("decrypt", sealed, ["-o", copy.path]).code != 0)
        let read = try keel(
            ["decrypt", sealed.path, "--keyset", keyset.path, "--key-file", newKey]
                + ["-o", copy.path]
        )
        #expect(read.code == 0)
        #expect(try Data(contentsOf: copy) == data)
    }

    @Test("A rotated keyset has the permissions that it had, and as root its owner")
    func access() throws {
        try change("create")
        let owner = geteuid() == 0 ? 1 : geteuid()
        try #require(chmod(keyset.path, 0o640) == 0)
        try #require(chown(keyset.path, owner, gid_t.max) == 0)
        #expect(try change("rotate").count == 2)
        var status = stat()
        #expect(stat(keyset.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640 && status.st_uid == owner)
    }

    @Test("Re-encrypting a link rewrites its target, which keeps its permissions")
    func links() throws {
        try change("create")
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let sealed = URL(filePath: file.path + ".keel")
        let link = scratch.file("link.keel")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: sealed)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: sealed.path)
        let before = try Data(contentsOf: sealed)
        let result = try keel(["keyset", "reencrypt", link.path, "--keyset", keyset.path] + key)
        #expect(result.code == 0)
        #expect(try Data(contentsOf: sealed) != before)
        let mode = try FileManager.default.attributesOfItem(atPath: sealed.path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o640)
        let kind = try FileManager.default.attributesOfItem(atPath: link.path)[.type]
        #expect(kind as? FileAttributeType == .typeSymbolicLink)
        let copy = scratch.file("copy")
        #expect(try run("decrypt", link, ["-o", copy.path]).code == 0)
        #expect(try Data(contentsOf: copy) == data)
    }

    @Test("An app reads what the command created")
    func shared() async throws {
        try change("create")
        let (file, data) = try write("report.pdf", 100)
        #expect(try run("encrypt", file).code == 0)
        let source = TestKeySource(file: scratch.file("key"))
        let streams = try StreamingEncryption(
            keyset: try await KeysetFile(at: keyset, under: source).load()
        )
        var decryptor = streams.decryptor()
        let sealed = try Data(contentsOf: URL(filePath: file.path + ".keel"))
        #expect(try decryptor.update(sealed) + decryptor.finish() == data)
    }
}
#endif
