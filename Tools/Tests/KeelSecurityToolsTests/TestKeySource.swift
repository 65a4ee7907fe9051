import Foundation
import KeelCore
import Testing

/// Reads the bytes of a key file.
struct TestKeySource: KeyEncryptionKeySource {
    let file: URL

    func keyEncryptionKey() async throws -> KeyEncryptionKey {
        let bytes = Array(try Data(contentsOf: file))
        return try #require(KeyEncryptionKey(identifier: "test", bytes: bytes))
    }
}
