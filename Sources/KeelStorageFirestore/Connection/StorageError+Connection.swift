internal import KeelCore
internal import KeelHTTP
public import KeelStorageAdapting

extension StorageError.Code {
    /// The server has no database of the configured name, or no such project.
    public static let databaseNotFound = Self(
        name: "databaseNotFound",
        advice: "Check project and database of the adapter's configuration, or create them."
    )

    /// The server's reply is not what the protocol says.
    public static let invalidReply = Self(
        name: "invalidReply",
        advice: "Check the server's address, and the versions of both sides."
    )
}

extension StorageError {
    /// The error for a reply that cannot be understood; what the request did is then not known.
    static func invalidReply(_ reason: String, isWrite: Bool = false) -> StorageError {
        StorageError(
            .invalidReply,
            "the server's reply cannot be used: \(reason)",
            effect: isWrite ? .unknown : .none
        )
    }

    /// The error for a request that has no reply.
    init(transport error: TransportError, isWrite: Bool) {
        let hasLeft = error.processed != .no && error.bytesSent != 0
        self.init(
            Self.code(for: error),
            "the server could not be asked: \(error.message)",
            effect: isWrite && hasLeft ? .unknown : .none,
            cause: error
        )
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
        // Many systems say so of every name while there is no network.
        case .hostNotFound: .unavailable
        default: error.isTransient ? .unavailable : .unknown
        }
    }

    /// Whether a source of tokens fails for a reason that may pass.
    private static func isPassing(_ cause: (any Error)?) -> Bool {
        guard let error = cause as? AuthenticationError else { return false }
        // A source of somebody else's comes in as the cause, and may know better.
        if let cause = error.cause as? any KeelError { return cause.isTransient }
        return error.isTransient
    }
}
