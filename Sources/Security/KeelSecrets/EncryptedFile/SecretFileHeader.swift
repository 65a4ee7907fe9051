#if Crypto
internal import KeelCore

/// The unencrypted header of a secret file.
///
/// Documentation/Protocols/SecretFile.md describes every byte.
struct SecretFileHeader: Hashable, Sendable {
    enum KeyKind: Hashable, Sendable {
        /// A source provides the key with this identifier.
        case source(identifier: String)
        /// The key is derived from a passphrase.
        case argon2id(memory: UInt32, passes: UInt32, lanes: UInt32, salt: [UInt8])
    }

    static let magic = Array("KEELSECR".utf8)
    static let version: UInt8 = 1
    static let saltByteCount = 32
    static let checkByteCount = 16
    static let passphraseSaltByteCount = 16
    static let nonceByteCount = 12

    var kind: KeyKind
    /// The salt that derives the key of this version of the file, new for each write.
    var salt: [UInt8]
    /// The value that distinguishes a wrong key from a damaged file.
    var check: [UInt8]
    var nonce: [UInt8]

    /// The bytes of the header, all of which are authenticated with the sealed part.
    var bytes: [UInt8] {
        var bytes = Self.magic + [Self.version]
        switch kind {
        case .source(let identifier):
            let name = Array(identifier.utf8.prefix(255))
            bytes += [1, UInt8(name.count)] + name
        case .argon2id(let memory, let passes, let lanes, let passphraseSalt):
            bytes += [2] + [memory, passes, lanes].flatMap(\.bigEndianBytes) + passphraseSalt
        }
        return bytes + salt + check + nonce
    }

    /// Reads a header.
    ///
    /// - Returns: The header and its size.
    /// - Throws: ``SecretError`` with the code `damaged` or `unsupportedFormat`.
    static func read(_ file: [UInt8]) throws(SecretError) -> (header: Self, byteCount: Int) {
        var rest = file[...]
        guard Array(rest.prefix(magic.count)) == magic else {
            throw SecretError(.damaged, "The file is not a file of secrets.")
        }
        rest = rest.dropFirst(magic.count)
        let version = try take(1, &rest)[0]
        let kindNumber = try take(1, &rest)[0]
        guard version == Self.version else {
            throw SecretError(.unsupportedFormat, "The file has the unsupported format \(version).")
        }
        let kind: KeyKind
        switch kindNumber {
        case 1:
            let count = Int(try take(1, &rest)[0])
            guard let name = String(validating: try take(count, &rest), as: UTF8.self) else {
                throw SecretError(.damaged, "The identifier of the file's key is not UTF-8.")
            }
            kind = .source(identifier: name)
        case 2:
            kind = .argon2id(
                memory: UInt32(bigEndianBytes: try take(4, &rest)),
                passes: UInt32(bigEndianBytes: try take(4, &rest)),
                lanes: UInt32(bigEndianBytes: try take(4, &rest)),
                salt: try take(passphraseSaltByteCount, &rest)
            )
        default:
            throw SecretError(
                .unsupportedFormat,
                "The file's key has the unknown kind \(kindNumber)."
            )
        }
        let header = Self(
            kind: kind,
            salt: try take(saltByteCount, &rest),
            check: try take(checkByteCount, &rest),
            nonce: try take(nonceByteCount, &rest)
        )
        return (header, file.count - rest.count)
    }

    private static func take(
        _ count: Int,
        _ rest: inout ArraySlice<UInt8>
    ) throws(SecretError) -> [UInt8] {
        guard rest.count >= count else {
            throw SecretError(.damaged, "The file's header is truncated.")
        }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
#endif
