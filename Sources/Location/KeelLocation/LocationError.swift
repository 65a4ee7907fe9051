public import KeelCore

/// An error in determining the position, with advice on how to resolve it.
///
/// The platform's error is in ``LocationError/cause``. Neither message nor cause has a position.
public struct LocationError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter outside of Keel.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence on what happened; it may name a host, never a position.
    ///   - cause: The underlying error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The caller's task was canceled.
    static var cancellation: LocationError {
        LocationError(.cancelled, "The call was canceled.", cause: CancellationError())
    }
}
