public import KeelCore

/// A failure of a cache or of its tier.
///
/// A damaged entry is not an error: it counts as a miss and appears in the statistics.
public struct CacheError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for a custom tier.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, in one sentence without keys or values.
    ///   - cause: The underlying error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
