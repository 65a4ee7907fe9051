#if Crypto
import Foundation
import Keel
import KeelTestKit
import Testing

@Suite("Guide: coming from KeychainAccess")
struct GuideSecretExamples {
    struct Account: Codable, Equatable, Sendable {
        var user: String
        var token: String
    }

    private let folder = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")

    @Test("Text, values and what is there")
    func basics() async throws {
        let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        try await secrets.save("s3cret", forKey: "api-token")
        #expect(try await secrets.loadString(forKey: "api-token") == "s3cret")
        try await secrets.save(encoding: Account(user: "ada", token: "t"), forKey: "account")
        #expect(try await secrets.loadValue(Account.self, forKey: "account").user == "ada")
        #expect(try await secrets.list() == ["account", "api-token"])
        try await secrets.delete(forKey: "api-token")
        #expect(try await secrets.exists(forKey: "api-token") == false)
    }

    @Test("A server's store, in an encrypted file")
    func onServer() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = EncryptedFileSecretStoreAdapter(
            folder: folder.path,
            key: .source(KeyFileSource(path: folder.appending(path: "key").path))
        )
        let secrets = try SecretStore(file, service: "com.example.notes")
        try await secrets.save("s3cret", forKey: "api-token")
        #expect(try await secrets.loadString(forKey: "api-token") == "s3cret")
    }

    @Test("What is missing is an error with a code")
    func missing() async throws {
        let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        do throws(SecretError) {
            _ = try await secrets.loadString(forKey: "api-token")
        } catch {
            #expect(error.code == .keyNotFound)
        }
        #expect(try await secrets.loadIfPresent(forKey: "api-token") == nil)
    }

    @Test("Two who renew a token at once")
    func comparing() async throws {
        let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        let first = try await secrets.compareAndSet(
            forKey: "token",
            expected: nil,
            new: Data("a".utf8)
        )
        let second = try await secrets.compareAndSet(
            forKey: "token",
            expected: nil,
            new: Data("b".utf8)
        )
        #expect(first && !second)
        #expect(try await secrets.loadString(forKey: "token") == "a")
    }

    @Test("A store that is locked, in a test")
    func locked() async throws {
        let adapter = InMemorySecretStoreAdapter().failing([.fail(.locked)])
        let secrets = try SecretStore(adapter, service: "com.example.notes")
        let error = await #expect(throws: SecretError.self) {
            try await secrets.save("s3cret", forKey: "api-token")
        }
        #expect(error?.code == .locked)
    }

    @Test("Moving into another store")
    func moving() async throws {
        let old = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        let new = try SecretStore(InMemorySecretStoreAdapter(), service: "com.example.notes")
        try await old.save("s3cret", forKey: "api-token")
        let report = try await old.migrate(to: new)
        #expect(report.moved == ["api-token"] && report.conflicting.isEmpty)
        #expect(try await new.loadString(forKey: "api-token") == "s3cret")
    }
}
#endif
