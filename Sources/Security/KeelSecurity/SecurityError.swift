public import KeelCore

/// An error thrown by the security APIs.
///
/// Messages and causes never contain keys, passwords or plaintext. A failed decryption does not say which of its inputs
/// was wrong, because that would help an attacker who tampered with them.
public struct SecurityError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for a key source that is implemented outside of Keel.
    ///
    /// The message is one sentence and must not contain a secret.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
