#if os(Linux) || os(macOS)
import Foundation
import KeelSecrets
import KeelToolsTestSupport
import Testing

@Suite("The command keel secrets", .timeLimit(.minutes(30)))
struct SecretsCommandTests {
    private let scratch: Scratch
    private let place: [String]

    init() throws {
        scratch = try Scratch()
        place = [
            "--service", "app", "--store", "file:\(scratch.file("store").path)", "--key-file",
            scratch.file("key").path,
        ]
    }

    private func keel(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, errors: String) {
        try KeelProcess(["secrets"] + arguments, input: input, environment: environment).wait()
    }

    @Test("A secret that was set is read, listed and deleted")
    func roundTrip() throws {
        #expect(try keel(["set", "token"] + place, input: "s3cret\n").code == 0)
        #expect(try keel(["set", "other"] + place, input: "two\nlines\n").code == 0)
        #expect(try keel(["get", "token"] + place).output == "s3cret")
        #expect(try keel(["get", "other"] + place).output == "two\nlines")
        let json = try keel(["get", "token", "--json"] + place).output
        #expect(json == #"{"text":"s3cret"}"# + "\n")
        #expect(try keel(["list"] + place).output == "other\ntoken\n")
        #expect(try keel(["delete", "other"] + place).code == 0)
        #expect(try keel(["delete", "other"] + place).code == 2)
        let none = try keel(["delete", "other", "--json"] + place)
        #expect(none.code == 2 && none.errors.hasPrefix(#"{"advice":"#))
        #expect(try keel(["list", "--json"] + place).output == #"{"key":"token"}"# + "\n")
        let missing = try keel(["get", "other"] + place)
        #expect(missing.code == 1)
        #expect(missing.errors.hasPrefix("keel: There is no secret other of app.\n"))
        let coded = try keel(["get", "other", "--json"] + place)
        #expect(coded.errors.contains(#""code":"keyNotFound""#))
    }

    @Test("Without a secret, neither a store nor its key is made")
    func nothing() throws {
        let result = try keel(["set", "token"] + place, input: "")
        #expect(result.code == 1)
        #expect(result.errors.contains("standard input contains no secret"), "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.isEmpty)
    }

    @Test("A changed file of secrets has the permissions that it had, and as root its owner")
    func access() throws {
        #expect(try keel(["set", "token"] + place, input: "s3cret").code == 0)
        let file = scratch.file("store").path + "/" + EncryptedFileSecretStoreAdapter.fileName
        let owner = geteuid() == 0 ? 1 : geteuid()
        try #require(chmod(file, 0o640) == 0)
        try #require(chown(file, owner, gid_t.max) == 0)
        #expect(try keel(["set", "token"] + place, input: "another").code == 0)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640 && status.st_uid == owner)
    }

    @Test("The app finds the secrets that the command saved")
    func shared() async throws {
        _ = try keel(["set", "token"] + place, input: "s3cret")
        let key = KeyFileSource(path: scratch.file("key").path, createsIfMissing: false)
        let file = EncryptedFileSecretStoreAdapter(
            folder: scratch.file("store").path,
            key: .source(key)
        )
        let secrets = try SecretStore(file, service: "app")
        #expect(try await secrets.loadString(forKey: "token") == "s3cret")
    }

    @Test("Secrets are not accepted as arguments, and a missing input is an error")
    func refusals() throws {
        #expect(try keel(["set", "token", "s3cret"] + place, input: "x").code == 64)
        let empty = try keel(["set", "token"] + place)
        #expect(empty.code == 1 && empty.errors.contains("standard input contains no secret"))
        let noKey = try keel(["list", "--service", "app", "--store", "file:/nowhere"])
        #expect(noKey.code == 64 && noKey.errors.contains("--key-file"))
        #expect(try keel(["list", "--service", "app", "--store", "nonsense"]).code == 64)
        let both = ["--key-variable", "A"]
        #expect(try keel(["list"] + place + both).code == 64)
    }

    @Test("Only writing creates a key, and bytes are kept unchanged")
    func reading() throws {
        for command in [["get", "a"], ["list"], ["delete", "a"]] {
            let result = try keel(command + place)
            #expect(result.code == 1 && result.errors.contains("does not exist"), "\(command)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(!names.contains("key"), "\(names)")
        let long = String(repeating: "x", count: SecretStore.maximumByteCount)
        #expect(try keel(["set", "a"] + place, input: long + "\r\n").code == 0)
        #expect(try keel(["get", "a"] + place).output == long)
        let longer = try keel(["set", "a"] + place, input: long + "x\r\n")
        #expect(longer.code == 1 && longer.errors.contains("exceeds the limit"))
        #expect(try keel(["set", "b"] + place, input: "bare\r").code == 0)
        #expect(try keel(["get", "b"] + place).output == "bare\r")
    }

    @Test("A passphrase is read from a variable, and a wrong one is reported")
    func passphrase() throws {
        let place = [
            "--service", "app", "--store", "file:\(scratch.file("store").path)",
            "--passphrase-variable", "KEEL_TEST_PASSPHRASE",
        ]
        let right = ["KEEL_TEST_PASSPHRASE": "correct horse"]
        #expect(try keel(["set", "a"] + place, input: "1", environment: right).code == 0)
        #expect(try keel(["get", "a"] + place, environment: right).output == "1")
        let wrong = try keel(
            ["get", "a", "--json"] + place,
            environment: ["KEEL_TEST_PASSPHRASE": "battery"]
        )
        #expect(wrong.code == 1 && wrong.errors.contains(#""code":"wrongKey""#))
        #expect(try keel(["get", "a"] + place).errors.contains("contains no passphrase"))
    }

    @Test("Environment variables are read and not written")
    func environment() throws {
        let place = ["--service", "app", "--store", "env:APP_"]
        let variables = ["APP_TOKEN": "s3cret"]
        #expect(try keel(["get", "TOKEN"] + place, environment: variables).output == "s3cret")
        let refused = try keel(["set", "TOKEN"] + place, input: "x", environment: variables)
        #expect(refused.code == 1 && refused.errors.contains("can only be read"))
    }

    @Test("migrate moves secrets, reports conflicts and can be repeated")
    func migrates() throws {
        let there = [
            "--to", "file:\(scratch.file("new").path)", "--to-key-file",
            scratch.file("new-key").path,
        ]
        let newPlace = [
            "--service", "app", "--store", "file:\(scratch.file("new").path)", "--key-file",
            scratch.file("new-key").path,
        ]
        for key in ["a", "b"] { _ = try keel(["set", key] + place, input: key) }
        _ = try keel(["set", "b"] + newPlace, input: "another")
        let first = try keel(["migrate"] + place + there)
        #expect(first.code == 2)
        #expect(first.output == "1 moved, 0 there already\n")
        #expect(first.errors.contains("b: another secret"))
        #expect(try keel(["list"] + place).output == "b\n")
        #expect(try keel(["list"] + newPlace).output == "a\nb\n")
        _ = try keel(["delete", "b"] + newPlace)
        #expect(try keel(["migrate"] + place + there).output == "1 moved, 0 there already\n")
        #expect(try keel(["get", "b"] + newPlace).output == "b")
    }

    @Test("doctor reports usable stores and advice")
    func doctor() throws {
        let early = try keel(["doctor"] + place.dropFirst(2))
        #expect(early.code == 2 && early.output.contains("missingKey"))
        #expect(try keel(["set", "token"] + place, input: "s3cret").code == 0)
        let good = try keel(["doctor"] + place.dropFirst(2))
        #expect(good.code == 0 && good.output.contains("encryptedFile"))
        #if os(Linux)
        let bad = try keel(
            ["doctor", "--json"],
            environment: [
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus", "DISPLAY": "",
                "XDG_RUNTIME_DIR": "/nowhere",
            ]
        )
        #expect(bad.code == 2 && bad.output.contains("noStore"))
        #expect(bad.output.contains("advice"))
        #endif
    }
}
#endif
