public import KeelCore

/// Why a call of the storage area failed, and what can be done about it.
public struct StorageError: KeelError {
    /// Whether the failed call may have changed the store.
    ///
    /// A write whose reply got lost has an unknown effect: repeating it could apply it twice. That
    /// is why `RetryingStorageAdapter` looks here and not only at the code.
    public enum Effect: Sendable, Hashable {
        /// The store is as it was before the call.
        case none
        /// The call may or may not have taken effect.
        case unknown
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence about the failure, which names paths and fields, never the contents of documents.
    public let message: String
    /// Whether the store may have been changed.
    public let effect: Effect
    /// The operation that failed, such as `getDocument`, where it is known.
    public let operation: String?
    /// The document or collection that the failure concerns, where there is one.
    public let resource: String?
    /// The error underneath: of the database, the file system, or a closure of the caller.
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

    /// The error of a call that was cancelled before it had an effect.
    package static var cancellation: StorageError {
        StorageError(.cancelled, "the call was cancelled", cause: CancellationError())
    }

    /// The code, the message, and where it happened, on one line, fit for a log.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let resource, !message.contains(resource) { text += ", at “\(resource)”" }
        if let operation { text += " [\(operation)]" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with the operation and the resource filled in where they are missing.
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
