public import KeelCore

/// Why a call of the security area failed, and what can be done about it.
///
/// No message and no cause holds a key, a password or what was encrypted. A failed decryption does
/// not say which of its inputs was wrong: that would help whoever changed them.
public struct SecurityError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for a key source that is written outside of Keel.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence without any secret.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
