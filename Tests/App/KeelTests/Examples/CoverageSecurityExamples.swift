#if Crypto
import Foundation
import Keel
import KeelHTTPAuthentication
import Testing

@Suite("Coverage: security and secrets")
struct CoverageSecurityExamples {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "keel-coverage-\(UUID().uuidString)")

    @Test("Row 5")
    func security() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = KeyFileSource(path: folder.appending(path: "key").path)
        let file = KeysetFile(at: folder.appending(path: "keyset.json"), under: key)
        let security = SecurityService(keys: try await file.ring(creating: .aes256GCM))
        let sealed = try security.encrypt(Data("hello".utf8), associatedData: Data("notes/1".utf8))
        try await file.change { keyset throws(SecurityError) in try keyset.rotate() }
        let later = SecurityService(keyset: try await file.load())
        let plain = try later.decrypt(sealed, associatedData: Data("notes/1".utf8))
        #expect(plain == Data("hello".utf8))
    }

    @Test("Row 6")
    func secrets() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = KeyFileSource(path: folder.appending(path: "key").path)
        let file = EncryptedFileSecretStoreAdapter(folder: folder.path, key: .source(key))
        let secrets = try SecretStore(file, service: "com.example.notes")
        try await secrets.save("s3cret", forKey: "api-token")
        #expect(try await secrets.loadString(forKey: "api-token") == "s3cret")
        let signer = try await secrets.privateKey(.ed25519, forKey: "device")
        #expect(try signer.signature(for: Data("pay 5".utf8)).count == 64)
    }

    @Test("Row 31, kept")
    func keptSession() async throws {
        let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        let store = SecretCredentialStore<BearerCredentials>(secrets)
        try await store.save(BearerCredentials(accessToken: "a", refreshToken: "r"))
        #expect(try await store.load()?.refreshToken == "r")
        try await store.clear()
        #expect(try await secrets.list().isEmpty)
    }
}
#endif
