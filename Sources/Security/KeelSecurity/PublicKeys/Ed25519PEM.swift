#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The PEM form of Ed25519 private keys, which the cryptography library does not write.
///
/// RFC 8410, section 7: a PKCS#8 structure in which the bytes before the key are constant.
enum Ed25519PEM {
    private static let begin = "-----BEGIN PRIVATE KEY-----"
    private static let end = "-----END PRIVATE KEY-----"
    /// A sequence of version 0, the algorithm 1.3.101.112, and an octet string in an octet string.
    private static let prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ]

    static func text(of rawKey: Data) -> String {
        "\(begin)\n\((Data(prefix) + rawKey).base64EncodedString())\n\(end)\n"
    }

    /// Returns the 32 bytes of a key, or nil if the text is not an Ed25519 private key.
    static func rawKey(in text: String) -> Data? {
        let lines = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard lines.hasPrefix(begin), lines.hasSuffix(end) else { return nil }
        let body = lines.dropFirst(begin.count).dropLast(end.count).filter { $0 != " " }
        guard let bytes = Data(base64Encoded: String(body)), bytes.starts(with: prefix),
            bytes.count == prefix.count + 32
        else { return nil }
        return Data(bytes.dropFirst(prefix.count))
    }
}
