import KeelCore
import KeelSecrets

/// A key chosen by a test.
struct FixedKeySource: KeyEncryptionKeySource {
    var identifier = "fixed"
    var filling: UInt8 = 7

    func keyEncryptionKey() async throws -> KeyEncryptionKey {
        let bytes = [UInt8](repeating: filling, count: KeyEncryptionKey.byteCount)
        guard let key = KeyEncryptionKey(identifier: identifier, bytes: bytes) else {
            throw SecretError(.missingKey, "The test's key has a wrong length.")
        }
        return key
    }
}
