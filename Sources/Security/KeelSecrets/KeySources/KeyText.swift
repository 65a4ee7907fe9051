#if Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

enum KeyText {
    /// Reads 32 raw bytes, 64 hexadecimal digits, or base64, without the newlines after text, or throws `missingKey`.
    static func key(_ bytes: [UInt8], from place: String) throws(SecretError) -> KeyEncryptionKey {
        if let key = decoded(bytes),
            let named = KeyEncryptionKey(
                identifier: SecretFileCipher.identifier(of: key),
                bytes: key
            )
        {
            return named
        }
        throw SecretError(
            .missingKey,
            "\(place) does not contain a key: 32 bytes, 64 hexadecimal digits, or their base64."
        )
    }

    private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.count == KeyEncryptionKey.byteCount { return bytes }
        guard var text = String(validating: bytes, as: UTF8.self) else { return nil }
        while text.last?.isNewline == true { text.removeLast() }
        if text.utf8.count == 2 * KeyEncryptionKey.byteCount { return Hexadecimal.bytes(of: text) }
        return Data(base64Encoded: text).map { Array($0) }
    }
}
#endif
