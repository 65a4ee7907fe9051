public import KeelCore

/// An error thrown by a secret store.
///
/// Neither the message nor the cause contains a secret, passphrase or key. A number or name that the platform reported
/// is a ``SecretStoreStatus`` in ``SecretError/cause``.
public struct SecretError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter that is implemented outside of Keel.
    ///
    /// The message is one sentence; it may name keys, never their secrets.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

/// A status reported by a platform's own secret store.
public struct SecretStoreStatus: Error, Hashable, Sendable, CustomStringConvertible {
    /// The source of the status: `OSStatus`, `secret-error-quark`, `g-dbus-error-quark` and so on.
    public let domain: String
    /// The reported number.
    public let number: Int

    /// Creates a status.
    public init(domain: String, number: Int) {
        self.domain = domain
        self.number = number
    }

    public var description: String { "\(domain) \(number)" }
}
