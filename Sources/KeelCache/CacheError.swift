public import KeelCore

/// Why a call of the cache area failed, and what can be done about it.
///
/// A damaged entry is no error: it counts as a miss and shows in the statistics. What is thrown
/// needs somebody's attention, or is the failure of the caller's own loading.
public struct CacheError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for a tier that is written outside of Keel.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence without keys or values.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
