#if Crypto
import KeelTestSupport
import Crypto
import Foundation
import KeelCore
import KeelSecrets
import Testing
import _CryptoExtras

@Suite("Encrypted secret file format")
struct SecretFileFormatTests {
    private let files = SimulatedFileSystem()
    private let path = "/store/secrets.keel"

    private func store(_ key: SecretFileKey = .source(FixedKeySource())) throws -> SecretStore {
        let adapter = EncryptedFileSecretStoreAdapter(folder: "/store", key: key, files: files)
        return try SecretStore(adapter, service: "test")
    }

    private func code(_ key: SecretFileKey = .source(FixedKeySource())) async throws
        -> SecretError.Code?
    {
        let store = try store(key)
        do throws(SecretError) {
            _ = try await store.load(forKey: "A")
            return nil
        } catch {
            #expect("\(error)".contains("pl4nted") == false)
            return error.code
        }
    }

    @Test("Every byte and the length are authenticated")
    func everyByte() async throws {
        try await store().save("pl4nted", forKey: "A")
        let whole = try #require(files.disk[path])
        #expect(Data(whole).range(of: Data("pl4nted".utf8)) == nil)
        #expect(Data(whole).range(of: Data("test".utf8)) == nil)
        for index in whole.indices {
            for bit in [0, 7] {
                files.disk[path]?[index] ^= 1 << bit
                #expect(try await code() != nil, "the bit \(bit) of the byte \(index)")
                files.disk[path] = whole
            }
        }
        for count in 0..<whole.count {
            files.disk[path] = Array(whole.prefix(count))
            #expect(try await code() == .damaged)
        }
        files.disk[path] = whole + [0]
        #expect(try await code() == .damaged)
        files.disk[path] = whole
        #expect(try await code() == nil)
    }

    @Test("A file's key can be changed from a source to a passphrase and back")
    func rekeying() async throws {
        let passphrase = SecretFileKey.passphrase(
            "pass",
            cost: Argon2Cost(memory: 8, passes: 1, lanes: 1)
        )
        let keys = [
            SecretFileKey.source(FixedKeySource()), passphrase,
            .source(FixedKeySource(identifier: "other", filling: 9)),
        ]
        let adapter = EncryptedFileSecretStoreAdapter(folder: "/store", key: keys[0], files: files)
        let store = try SecretStore(adapter, service: "test")
        try await store.save("1", forKey: "A")
        for next in keys.indices.dropFirst() {
            try await adapter.rekey(to: keys[next])
            #expect(try await store.loadString(forKey: "A") == "1")
            try await store.save("\(next)", forKey: "B")
            for key in keys.indices {
                #expect(try await code(keys[key]) == (key == next ? nil : .wrongKey))
            }
            try await store.save("1", forKey: "A")
        }
        #expect(try await store.loadString(forKey: "B") == "2")
    }

    @Test("A failed key change keeps the file and the key")
    func failedRekeying() async throws {
        let adapter = EncryptedFileSecretStoreAdapter(
            folder: "/store",
            key: .source(FixedKeySource()),
            files: files
        )
        let store = try SecretStore(adapter, service: "test")
        try await store.save("1", forKey: "A")
        let before = files.disk[path]
        files.fail { if case .rename = $0 { FileSystemError.inputOutput } else { nil } }
        await expectError(SecretError.self, .saveFailed) {
            try await adapter.rekey(to: .source(FixedKeySource(identifier: "b", filling: 9)))
        }
        files.fail(nil)
        #expect(files.disk[path] == before)
        #expect(try await store.loadString(forKey: "A") == "1")
    }

    @Test("A damaged file is also refused for saving, and stays unchanged")
    func damagedIsKept() async throws {
        try await store().save("1", forKey: "A")
        files.disk[path]?.removeLast()
        let left = files.disk[path]
        await #expect(throws: SecretError.self) { try await store().save("2", forKey: "A") }
        #expect(files.disk[path] == left)
        #expect(await (try store()).capabilities().problem == .damaged)
    }

    @Test("A wrong key is distinguished from damage, by its identifier and without it")
    func wrongKey() async throws {
        try await store().save("1", forKey: "A")
        #expect(try await code(.source(FixedKeySource(identifier: "other"))) == .wrongKey)
        #expect(try await code(.source(FixedKeySource(filling: 8))) == .wrongKey)
        #expect(try await code(.passphrase("a", cost: .init(memory: 64))) == .wrongKey)
    }

    @Test("A wrong passphrase is distinguished from damage")
    func wrongPassphrase() async throws {
        let cost = Argon2Cost(memory: 64)
        try await store(.passphrase("right", cost: cost)).save("1", forKey: "A")
        #expect(try await code(.passphrase("wrong", cost: cost)) == .wrongKey)
        #expect(try await code(.source(FixedKeySource())) == .wrongKey)
        // The file's own cost applies, not that of the opener.
        #expect(try await code(.passphrase("right", cost: .init(memory: 128))) == nil)
    }

    @Test("A later version and an excessive cost are rejected")
    func refused() async throws {
        try await store().save("1", forKey: "A")
        files.disk[path]?[8] = 2
        #expect(try await code() == .unsupportedFormat)

        files.vanish()
        let key = SecretFileKey.passphrase("a", cost: .init(memory: 64))
        try await store(key).save("1", forKey: "A")
        files.disk[path]?[10] = 40
        #expect(try await code(key) == .damaged)
        let wild = SecretFileKey.passphrase("a", cost: .init(memory: 4 << 20))
        files.vanish()
        await #expect(throws: SecretError.self) { try await store(wild).save("1", forKey: "A") }
    }

    @Test("Two writes of the same secrets share no salt, nonce or ciphertext")
    func fresh() async throws {
        try await store().save("1", forKey: "A")
        let first = try #require(files.disk[path])
        try await store().save("2", forKey: "A")
        try await store().save("1", forKey: "A")
        let second = try #require(files.disk[path])
        #expect(first.count == second.count)
        let same = zip(first.dropFirst(16), second.dropFirst(16)).filter { $0 == $1 }
        #expect(same.count < 12)
    }

    @Test("A reader written from the format's documentation opens a file")
    func byThePage() async throws {
        try await store().save("pl4nted", forKey: "A")
        let file = try #require(files.disk[path])
        // magic 8, version 1, kind 1, length 1, "fixed" 5; salt 32, check 16, nonce 12.
        let salt = file[16..<48]
        let nonce = file[64..<76]
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: [UInt8](repeating: 7, count: 32)),
            salt: Array(salt),
            info: Array("keel secret file 1 key".utf8),
            outputByteCount: 32
        )
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce),
            ciphertext: file[76..<file.count - 16],
            tag: file.suffix(16)
        )
        let plain = try AES.GCM.open(box, using: key, authenticating: file.prefix(76))
        let expected: [UInt8] =
            [0x81, 0x83, 0x64] + Array("test".utf8) + [0x61, 0x41, 0x47] + Array("pl4nted".utf8)
        #expect(Array(plain) == expected)
    }

    @Test("Folder and file are accessible to their owner alone")
    func modes() async throws {
        let folder = try TemporaryFolder()
        let adapter = EncryptedFileSecretStoreAdapter(
            folder: folder.path + "/a/b",
            key: .source(FixedKeySource())
        )
        try await SecretStore(adapter, service: "test").save("1", forKey: "A")
        for (path, mode) in [("a/b", 0o700), ("a/b/secrets.keel", 0o600)] {
            let attributes = try FileManager.default
                .attributesOfItem(atPath: folder.path + "/" + path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }
}
#endif
