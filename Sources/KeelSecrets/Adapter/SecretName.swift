/// Where a secret is kept: the service that it belongs to, and the account within it.
///
/// The words are those of Apple's Keychain and of the Secret Service. An app has one service, such
/// as `com.example.notes`; what the front calls a key is the account.
public struct SecretName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The service, usually the app's own name.
    public let service: String
    /// The name of the secret within the service.
    public let account: String

    /// Creates a name; ``SecretStore`` checks its parts.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - account: The name of the secret within the service.
    public init(service: String, account: String) {
        self.service = service
        self.account = account
    }

    // By bytes: two spellings of one character are two names to every store underneath.

    public static func == (left: Self, right: Self) -> Bool {
        left.service.utf8.elementsEqual(right.service.utf8)
            && left.account.utf8.elementsEqual(right.account.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in service.utf8 { hasher.combine(byte) }
        hasher.combine(0 as UInt8)
        for byte in account.utf8 { hasher.combine(byte) }
    }

    public static func < (left: Self, right: Self) -> Bool {
        if left.service.utf8.elementsEqual(right.service.utf8) {
            return left.account.utf8.lexicographicallyPrecedes(right.account.utf8)
        }
        return left.service.utf8.lexicographicallyPrecedes(right.service.utf8)
    }

    public var description: String { "\(service)/\(account)" }
}
