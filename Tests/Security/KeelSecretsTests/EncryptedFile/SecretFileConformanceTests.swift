#if Crypto
import KeelConformance
import KeelCore
import KeelSecrets
import KeelTestSupport
import Testing

@Suite("Encrypted files keep the promises of secret stores")
struct SecretFileConformanceTests {
    @Test("With a key from a source", arguments: SecretStoreCheck.applicable(to: .complete))
    func source(_ check: SecretStoreCheck) async throws {
        try await run(check, key: .source(FixedKeySource()))
    }

    @Test("With a passphrase", arguments: SecretStoreCheck.applicable(to: .complete))
    func passphrase(_ check: SecretStoreCheck) async throws {
        try await run(check, key: .passphrase("correct horse", cost: .init(memory: 64)))
    }

    private func run(_ check: SecretStoreCheck, key: SecretFileKey) async throws {
        let folder = try TemporaryFolder()
        try await check.run(
            on: SecretStoreSubject(features: .complete) { setting in
                EncryptedFileSecretStoreAdapter(folder: folder.path + "/" + setting.name, key: key)
            }
        )
    }
}
#endif
