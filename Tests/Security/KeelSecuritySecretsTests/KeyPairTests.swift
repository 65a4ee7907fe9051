#if Crypto
import Foundation
import KeelSecrets
import KeelSecurity
import KeelSecuritySecrets
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Key pairs in a secret store")
struct KeyPairTests {
    private let adapter = InMemorySecretStoreAdapter()

    private func secrets() throws -> SecretStore { try SecretStore(adapter, service: "app") }

    @Test("A signing key pair is created once and kept", arguments: SignatureAlgorithm.allCases)
    func signing(_ algorithm: SignatureAlgorithm) async throws {
        let secrets = try secrets()
        await expectError(SecretError.self, .keyNotFound) {
            try await secrets.publicKey(algorithm, forKey: "device", createsIfMissing: false)
        }
        let data = Data("pay 5".utf8)
        let signature = try await secrets.privateKey(algorithm, forKey: "device")
            .signature(for: data)
        let reader = try await self.secrets().publicKey(algorithm, forKey: "device")
        #expect(reader.isValid(signature, for: data))
        #expect(try await secrets.loadString(forKey: "device").hasPrefix("-----BEGIN PRIVATE KEY"))
        #expect(try await secrets.list() == ["device"])
    }

    @Test("An RSA key pair is created once and kept")
    func rsa() async throws {
        let sealed = try await secrets().rsaPublicKey(forKey: "mail").encrypt(Data("hello".utf8))
        let key = try await secrets().rsaPrivateKey(forKey: "mail", createsIfMissing: false)
        #expect(try key.decrypt(sealed) == Data("hello".utf8))
        #expect(try await secrets().list() == ["mail"])
    }

    @Test("Concurrent callers get the same key pair")
    func race() async throws {
        let keys = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await secrets().publicKey(.ed25519, forKey: "device").rawRepresentation
                }
            }
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test("A key of another kind and invalid data are refused and stay unchanged")
    func foreign() async throws {
        let secrets = try secrets()
        try await secrets.save("no key", forKey: "text")
        _ = try await secrets.privateKey(.p256, forKey: "p256")
        let held = try await secrets.loadString(forKey: "p256")
        for key in ["text", "p256"] {
            await expectError(SecretError.self, .invalidData) {
                try await secrets.privateKey(.ed25519, forKey: key)
            }
            await expectError(SecretError.self, .invalidData) {
                try await secrets.rsaPrivateKey(forKey: key)
            }
        }
        #expect(try await secrets.loadString(forKey: "p256") == held)
    }

    @Test("A cancelled call for the key throws a cancellation")
    func cancellation() async throws {
        let source = SecretStoreKeySource(try secrets())
        let keyset = try Keyset.make(.aes256GCM)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await keyset.encrypted(under: source)
        }
        await expectError(SecurityError.self, .cancelled) { try await task.value }
        #expect(try await secrets().list().isEmpty)
    }

    @Test("A keyset is encrypted under a key in the store")
    func keyset() async throws {
        let source = SecretStoreKeySource(try secrets())
        let keyset = try Keyset.make(.aes256GCM)
        let data = try await keyset.encrypted(under: source)
        #expect(try await secrets().list() == ["key-encryption-key"])
        let copy = try await Keyset(
            encrypted: data,
            under: SecretStoreKeySource(try secrets(), createsIfMissing: false)
        )
        #expect(copy.cleartextBinary() == keyset.cleartextBinary())
        try await secrets().delete(forKey: "key-encryption-key")
        let error = await expectError(SecurityError.self, .keyStoreFailed) {
            try await Keyset(
                encrypted: data,
                under: SecretStoreKeySource(try secrets(), createsIfMissing: false)
            )
        }
        #expect((error?.cause as? SecretError)?.code == .missingKey)
    }
}
#endif
