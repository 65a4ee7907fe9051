public import KeelCore

/// An error of a storage call.
public struct StorageError: KeelError {
    /// Whether a failed call may have changed the store.
    ///
    /// A write whose reply was lost has an unknown effect, and repeating it could apply it twice.
    /// `RetryingStorageAdapter` therefore checks the effect in addition to the code.
    public enum Effect: Sendable, Hashable {
        /// The store is unchanged.
        case none
        /// The call may have taken effect.
        case unknown
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure that names paths and fields but never document contents.
    public let message: String
    /// Whether the failed call may have changed the store.
    public let effect: Effect
    /// The operation that failed, such as `getDocument`, if known.
    public let operation: String?
    /// The document or collection that the failure concerns, if any.
    public let resource: String?
    /// The underlying error from the database, the file system or a closure of the caller.
    public let cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String,
        effect: Effect = .none,
        operation: String? = nil,
        resource: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.effect = effect
        self.operation = operation
        self.resource = resource
        self.cause = cause
    }

    /// The error of a call that was canceled before it had an effect.
    package static var cancellation: StorageError {
        StorageError(.cancelled, "the call was canceled", cause: CancellationError())
    }

    /// Returns the error of a call that needs the document at a path.
    package static func noDocument(at path: DocumentPath) -> StorageError {
        StorageError(
            .documentNotFound,
            "there is no document at “\(path)”",
            resource: path.string
        )
    }

    /// The code, message and location on one line, suitable for a log.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let resource, !message.contains(resource) { text += ", at “\(resource)”" }
        if let operation { text += " [\(operation)]" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with the operation and the resource set if they are nil.
    package func during(_ operation: String, on resource: String? = nil) -> StorageError {
        StorageError(
            code,
            message,
            effect: effect,
            operation: self.operation ?? operation,
            resource: self.resource ?? resource,
            cause: cause
        )
    }
}
