public import KeelCore

/// An error of a storage call.
public struct StorageError: KeelError {
    /// Whether a failed call may have changed the store.
    ///
    /// Repeating a write with an unknown effect, whose reply was lost, could apply it twice.
    public enum Effect: Sendable, Hashable {
        /// The store is unchanged.
        case none
        /// The call may have taken effect.
        case unknown
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure, which names paths and fields but never contents.
    public let message: String
    /// Whether the failed call may have changed the store.
    public let effect: Effect
    /// The operation that failed, such as `getDocument`, if known.
    public let operation: String?
    /// The document or collection concerned, if any.
    public let resource: String?
    /// The error of the database, the file system or the caller's closure, if any.
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

    package static func noDocument(at path: DocumentPath) -> StorageError {
        StorageError(
            .documentNotFound,
            "there is no document at “\(path)”",
            resource: path.string
        )
    }

    /// The code, message, resource, operation and cause, for a log.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let resource, !message.contains(resource) { text += ", at “\(resource)”" }
        if let operation { text += " [\(operation)]" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with the operation and the resource, unless it has its own.
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

    package var withUnknownEffect: StorageError {
        StorageError(
            code,
            message,
            effect: .unknown,
            operation: operation,
            resource: resource,
            cause: cause
        )
    }
}
