#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The PEM form of the keys of Ed25519 and X25519, which the cryptography library does not write.
///
/// RFC 8410: structures in which the bytes before the key are constant for a curve.
struct CurvePEM {
    static let x25519 = Self(object: 0x6E)
    static let ed25519 = Self(object: 0x70)

    /// The last byte of the algorithm, 1.3.101.110 or 1.3.101.112.
    private let object: UInt8

    /// A sequence of version 0, the algorithm, and an octet string in an octet string.
    private var privatePrefix: [UInt8] {
        [
            0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, object, 0x04, 0x22,
            0x04, 0x20,
        ]
    }

    /// A sequence of the algorithm and a bit string.
    private var publicPrefix: [UInt8] {
        [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, object, 0x03, 0x21, 0x00]
    }

    func privateText(of rawKey: Data) -> String { Self.text("PRIVATE KEY", privatePrefix, rawKey) }

    func publicText(of rawKey: Data) -> String { Self.text("PUBLIC KEY", publicPrefix, rawKey) }

    func privateKey(in text: String) -> Data? { Self.key(in: text, "PRIVATE KEY", privatePrefix) }

    func publicKey(in text: String) -> Data? { Self.key(in: text, "PUBLIC KEY", publicPrefix) }

    private static func text(_ name: String, _ prefix: [UInt8], _ rawKey: Data) -> String {
        let body = (Data(prefix) + rawKey).base64EncodedString()
        return "-----BEGIN \(name)-----\n\(body)\n-----END \(name)-----\n"
    }

    private static func key(in text: String, _ name: String, _ prefix: [UInt8]) -> Data? {
        let (begin, end) = ("-----BEGIN \(name)-----", "-----END \(name)-----")
        let lines = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard lines.hasPrefix(begin), lines.hasSuffix(end) else { return nil }
        let body = lines.dropFirst(begin.count).dropLast(end.count).filter { $0 != " " }
        guard let bytes = Data(base64Encoded: String(body)), bytes.starts(with: prefix),
            bytes.count == prefix.count + 32
        else { return nil }
        return Data(bytes.dropFirst(prefix.count))
    }
}
