internal import KeelCore
internal import KeelHTTP
public import KeelStorageAdapting

extension StorageError.Code {
    /// The configured project or database does not exist on the server.
    public static let databaseNotFound = Self(
        name: "databaseNotFound",
        advice: "Check project and database of the adapter's configuration, or create them."
    )

    /// The server's reply does not conform to the protocol.
    public static let invalidReply = Self(
        name: "invalidReply",
        advice: "Check the server's address, and the versions of both sides."
    )
}

private struct ServerRefusal: Error {}

extension StorageError {
    static func invalidReply(_ reason: String, isWrite: Bool = false) -> StorageError {
        StorageError(
            .invalidReply,
            "the server's reply cannot be used: \(reason)",
            effect: isWrite ? .unknown : .none
        )
    }

    init(transport error: TransportError, isWrite: Bool) {
        let hasLeft = error.processed != .no && error.bytesSent != 0
        self.init(
            Self.code(for: error),
            "the request failed: \(error.message)",
            effect: isWrite && hasLeft ? .unknown : .none,
            cause: error
        )
    }

    /// The error of a reply; unavailability if the server has canceled a call that the caller has not.
    ///
    /// Servers cancel calls when they end. Passed on, such an error would end a listener as if its task were canceled.
    ///
    /// A refusal has a cause: without one, it would look like a refusal by access rules in front of the adapter.
    var ofServer: StorageError {
        switch code {
        case .cancelled where !Task.isCancelled:
            StorageError(
                .unavailable,
                "the server has canceled the call: \(message)",
                effect: effect,
                resource: resource
            )
        case .permissionDenied:
            StorageError(
                code,
                message,
                effect: effect,
                resource: resource,
                cause: ServerRefusal()
            )
        default: self
        }
    }

    private static func code(for error: TransportError) -> StorageError.Code {
        switch error.code {
        case .cancelled: .cancelled
        case .credentialsUnavailable: isPassing(error.cause) ? .unavailable : .unauthenticated
        case .connectTimeout, .poolTimeout, .responseTimeout, .writeTimeout, .deadlineExceeded,
            .attemptTimeout, .tooSlow:
            .timeout
        case .responseTooLarge, .decompressionLimit: .tooLarge
        case .invalidRequest, .invalidConfiguration: .invalidArgument
        // Many systems report this for every name while there is no network.
        case .hostNotFound: .unavailable
        default: error.isTransient ? .unavailable : .unknown
        }
    }

    private static func isPassing(_ cause: (any Error)?) -> Bool {
        guard let error = cause as? AuthenticationError else { return false }
        // The error of a custom token source is the cause, and is more specific.
        if let cause = error.cause as? any KeelError { return cause.isTransient }
        return error.isTransient
    }
}
