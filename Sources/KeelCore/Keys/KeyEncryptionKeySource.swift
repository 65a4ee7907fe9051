/// A type that knows the key under which other keys and secrets are encrypted.
///
/// A keyset is kept encrypted, and the key for that is kept somewhere else: in a secret store, in
/// a file that only one user may read, or in a person's head. A secret store may itself be a file
/// that is encrypted. This protocol stands between the two, so that neither area imports the other.
/// A conforming type promises that
///
/// - it returns the same key for as long as its identifier is the same;
/// - where there is none yet, a source that can make one keeps it before it returns it;
/// - it throws when it cannot, and never makes a second key because the first cannot be read;
/// - neither its description nor an error that it throws holds the key.
public protocol KeyEncryptionKeySource: Sendable {
    /// Returns the key, made on demand where the source can make one.
    func keyEncryptionKey() async throws -> KeyEncryptionKey
}

/// A key of 256 bits under which other keys and secrets are encrypted, and what tells it apart.
public struct KeyEncryptionKey: Sendable {
    /// How many bytes a key has.
    public static let byteCount = 32

    /// A name for the key that is no secret: it is written beside what the key encrypts.
    public let identifier: String
    /// The key itself, 32 bytes.
    public let bytes: [UInt8]

    /// Creates a key, or nil when it does not have 32 bytes.
    ///
    /// - Parameters:
    ///   - identifier: A name for the key that tells nothing about it.
    ///   - bytes: The key.
    public init?(identifier: String, bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.identifier = identifier
        self.bytes = bytes
    }
}

extension KeyEncryptionKey: CustomStringConvertible, CustomReflectable {
    /// The identifier alone.
    public var description: String { "key \(identifier)" }

    public var customMirror: Mirror { Mirror(self, children: ["identifier": identifier]) }
}
