public import KeelCore

/// Why a call of a secret store failed, and what can be done about it.
///
/// Neither the message nor the cause holds a secret, a passphrase or a key. What the platform
/// itself reported, a number or a name, is a ``SecretStoreStatus`` in ``SecretError/cause``.
public struct SecretError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter that is written outside of Keel.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence; it may name keys, never their secrets.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

/// What a platform's own store of secrets reported.
public struct SecretStoreStatus: Error, Hashable, Sendable, CustomStringConvertible {
    /// Who reported it: `OSStatus`, `secret-error-quark`, `g-dbus-error-quark` and so on.
    public let domain: String
    /// The number that it reported.
    public let number: Int

    /// Creates a status.
    ///
    /// - Parameters:
    ///   - domain: Who reported it.
    ///   - number: The number that it reported.
    public init(domain: String, number: Int) {
        self.domain = domain
        self.number = number
    }

    public var description: String { "\(domain) \(number)" }
}
