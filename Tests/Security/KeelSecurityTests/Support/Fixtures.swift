import Foundation
import KeelCore
import KeelSecurity
import KeelTestKit
import Testing

struct FixedKeySource: KeyEncryptionKeySource {
    var bytes = [UInt8](0..<32)

    func keyEncryptionKey() async throws -> KeyEncryptionKey {
        try #require(KeyEncryptionKey(identifier: "fixed", bytes: bytes))
    }
}

struct FailingKeySource: KeyEncryptionKeySource {
    struct Locked: Error {}

    func keyEncryptionKey() async throws -> KeyEncryptionKey { throw Locked() }
}

#if Crypto
extension Keyset {
    /// Returns a keyset with one key of known bytes, in Tink's format.
    static func known(
        _ type: String,
        key: [UInt8],
        field: UInt8 = 3,
        prefix: String = "RAW"
    ) throws -> Keyset {
        let value = Data([field << 3 | 2, UInt8(key.count)] + key).base64EncodedString()
        let json = """
            {"primaryKeyId":7,"key":[{"keyData":{"typeUrl":
            "type.googleapis.com/google.crypto.tink.\(type)","value":"\(value)",
            "keyMaterialType":"SYMMETRIC"},"status":"ENABLED","keyId":7,
            "outputPrefixType":"\(prefix)"}]}
            """
        return try Keyset(cleartextJSON: Data(json.utf8))
    }
}

let valueAlgorithms: [KeyAlgorithm] = [.aes256GCM, .aes128GCM, .aes256GCMSIV, .chaCha20Poly1305]

let streamAlgorithms: [KeyAlgorithm] = [.aes256GCMHKDF4KB, .aes256GCMHKDF64KB, .aes256GCMHKDF1MB]
#endif

extension SeededRandom {
    mutating func data(_ count: Int) -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) }
        }
        return Data(bytes.prefix(count))
    }
}
