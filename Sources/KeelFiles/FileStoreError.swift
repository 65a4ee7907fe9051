public import KeelCore

/// Why a call of a file store failed, and what can be done about it.
///
/// The message may name paths, never contents.
public struct FileStoreError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter that is written outside of Keel.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
