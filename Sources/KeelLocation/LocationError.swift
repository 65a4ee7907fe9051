public import KeelCore

/// Why a position could not be had, and what can be done about it.
///
/// What the platform itself reported is in ``LocationError/cause``. Neither the message nor the
/// cause holds a position.
public struct LocationError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter that is written outside of Keel.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence; it may name a host, never a position.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The caller's task was cancelled.
    static var cancellation: LocationError {
        LocationError(.cancelled, "The call was cancelled.", cause: CancellationError())
    }
}
