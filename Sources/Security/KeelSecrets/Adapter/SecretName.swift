/// The name of a secret: a service and an account within it.
///
/// An app has one service, such as `com.example.notes`; the account is the key passed to ``SecretStore``.
public struct SecretName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The service, usually the app's identifier.
    public let service: String
    /// The name of the secret within the service.
    public let account: String

    /// Creates a name; ``SecretStore`` validates its parts.
    public init(service: String, account: String) {
        self.service = service
        self.account = account
    }

    // Compared by bytes: every underlying store distinguishes canonically equivalent strings.

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
