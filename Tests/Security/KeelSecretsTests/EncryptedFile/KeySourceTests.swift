#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelSecrets
import Testing

@Suite("Key sources")
struct KeySourceTests {
    private func code(_ source: any KeyEncryptionKeySource) async -> SecretError.Code? {
        do {
            _ = try await source.keyEncryptionKey()
            return nil
        } catch { return (error as? SecretError)?.code }
    }

    @Test("A key file is created once, for its owner alone")
    func made() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys/key"
        let first = try await KeyFileSource(path: path).keyEncryptionKey()
        let second = try await KeyFileSource(path: path).keyEncryptionKey()
        #expect(first.bytes == second.bytes)
        #expect(first.identifier == second.identifier)
        #expect(first.identifier.count == 16)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A key file that others can access is refused")
    func open() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key"
        _ = try await KeyFileSource(path: path).keyEncryptionKey()
        for mode in [0o640, 0o604, 0o620, 0o777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(await code(KeyFileSource(path: path)) == .permissionDenied)
        }
    }

    @Test("A linked key file is checked itself, and a pipe is refused without blocking")
    func linksAndPipes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key"
        let key = try await KeyFileSource(path: path).keyEncryptionKey()
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try await KeyFileSource(path: link).keyEncryptionKey().bytes == key.bytes)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(await code(KeyFileSource(path: link)) == .permissionDenied)
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(await code(KeyFileSource(path: pipe)) == .missingKey)
    }

    @Test("A missing key file is created only on demand")
    func notMade() async throws {
        let files = SimulatedFileSystem()
        let source = KeyFileSource(path: "/k/key", createsIfMissing: false, files: files)
        #expect(await code(source) == .missingKey)
        #expect(files.steps.isEmpty)
    }

    @Test("A kill during the creation of a key file leaves no key or a complete one")
    func crash() async throws {
        let files = SimulatedFileSystem()
        _ = try await KeyFileSource(path: "/k/key", files: files).keyEncryptionKey()
        for count in 0...files.steps.count {
            for torn in [0, 5] {
                let left = SimulatedFileSystem(files.disk(afterKillAt: count, torn: torn))
                let key = try await KeyFileSource(path: "/k/key", files: left).keyEncryptionKey()
                let again = try await KeyFileSource(path: "/k/key", files: left).keyEncryptionKey()
                #expect(key.bytes == again.bytes)
            }
        }
    }

    @Test("systemd credentials are read")
    func credential() async throws {
        let folder = try TemporaryFolder()
        let key = Data(1...32)
        try key.write(to: URL(fileURLWithPath: folder.path + "/raw"))
        try Data((key.base64EncodedString() + "\n").utf8)
            .write(to: URL(fileURLWithPath: folder.path + "/base64"))
        let raw = SystemdCredentialSource(name: "raw", folder: folder.path)
        let base64 = SystemdCredentialSource(name: "base64", folder: folder.path)
        #expect(try await raw.keyEncryptionKey().bytes == Array(key))
        #expect(try await base64.keyEncryptionKey().bytes == Array(key))
        #expect(await code(SystemdCredentialSource(name: "no", folder: folder.path)) == .missingKey)
        #expect(await code(SystemdCredentialSource(name: "raw", folder: "")) == .missingKey)
        #expect(
            await code(SystemdCredentialSource(name: "../raw", folder: "/")) == .invalidArgument
        )
    }

    @Test("A variable is read as hexadecimal or base64, and its value is never quoted")
    func variable() async throws {
        let digits = String(repeating: "0aF1", count: 16)
        let variables = [
            "DIGITS": digits, "BASE64": Data(1...32).base64EncodedString() + "\r\n",
            "SHORT": "pl4nted", "LONG": "pl4nted" + digits,
            "ODD": String(repeating: "zz", count: 32),
        ]
        let read = EnvironmentKeySource(variable: "DIGITS", variables: variables)
        let bytes = try await read.keyEncryptionKey().bytes
        #expect(bytes == Array(repeating: [0x0a, 0xf1], count: 16).flatMap { $0 })
        let base64 = EnvironmentKeySource(variable: "BASE64", variables: variables)
        #expect(try await base64.keyEncryptionKey().bytes == Array(1...32))
        for name in ["SHORT", "LONG", "ODD", "ABSENT"] {
            let source = EnvironmentKeySource(variable: name, variables: variables)
            do {
                _ = try await source.keyEncryptionKey()
                Issue.record("\(name) was taken for a key")
            } catch {
                #expect((error as? SecretError)?.code == .missingKey)
                #expect("\(error)\(source)".contains("pl4nted") == false)
            }
        }
    }

    @Test("A key's description is its identifier")
    func description() throws {
        let key = try #require(
            KeyEncryptionKey(identifier: "name", bytes: [UInt8](repeating: 199, count: 32))
        )
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "key name")
        #expect(dumped.contains("199") == false)
        #expect(KeyEncryptionKey(identifier: "name", bytes: [1]) == nil)
    }
}
#endif
