/// A type that provides the key under which other keys and secrets are encrypted.
///
/// A conforming type promises that
///
/// - it returns the same key as long as the identifier is the same;
/// - if it creates a missing key, it stores the key before it returns it;
/// - it throws if the key cannot be read, and never creates a second key in that case;
/// - neither its description nor its errors contain the key.
public protocol KeyEncryptionKeySource: Sendable {
    /// Returns the key, creating it if it is missing and the source supports that.
    func keyEncryptionKey() async throws -> KeyEncryptionKey
}

/// A 256-bit key under which other keys and secrets are encrypted, with its identifier.
public struct KeyEncryptionKey: Sendable {
    /// The size of a key in bytes.
    public static let byteCount = 32

    /// The identifier of the key, which is not secret: it is stored with the encrypted data.
    public let identifier: String
    /// The 32 bytes of the key.
    public let bytes: [UInt8]

    /// Creates a key, or returns nil unless it has 32 bytes; the identifier must reveal nothing about the key.
    public init?(identifier: String, bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.identifier = identifier
        self.bytes = bytes
    }
}

extension KeyEncryptionKey: CustomStringConvertible, CustomReflectable {
    /// The identifier, without the key.
    public var description: String { "key \(identifier)" }

    public var customMirror: Mirror { Mirror(self, children: ["identifier": identifier]) }
}
