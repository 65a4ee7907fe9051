public import KeelCore

/// An error thrown by a file store.
///
/// The message may contain paths, never contents of files.
public struct FileStoreError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter that is implemented outside of Keel.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}
