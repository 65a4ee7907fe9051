public import KeelCore

extension RepositoryError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension RepositoryError.Code {
    /// The source could not be reached.
    public static let unreachable = Self(
        name: "unreachable",
        isTransient: true,
        summary: "The data could not be loaded because the source is unreachable.",
        advice: "Check the network connection, then try again."
    )
    /// The source is currently unavailable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        summary: "The data cannot be loaded at the moment.",
        advice: "Try again later."
    )
    /// The exchange failed for a non-transient reason.
    public static let connectionFailed = Self(
        name: "connectionFailed",
        summary: "The connection to the service failed.",
        advice: "See the cause: often a certificate or a setting is wrong."
    )
    /// The user has to sign in.
    public static let signInRequired = Self(
        name: "signInRequired",
        summary: "You have to sign in.",
        advice: "Sign in again, then repeat the action."
    )
    /// The user lacks permission.
    public static let notPermitted = Self(
        name: "notPermitted",
        summary: "This is not allowed.",
        advice: "Ask for permission, or use another account."
    )
    /// The value does not exist.
    public static let notFound = Self(
        name: "notFound",
        summary: "The item does not exist.",
        advice: "It may have been deleted; load the list again."
    )
    /// The device has no copy, and the policy excludes the source.
    public static let notCached = Self(
        name: "notCached",
        summary: "There is no copy on this device.",
        advice: "Load it while online, or use another fetch policy."
    )
    /// The value has changed in the meantime.
    public static let conflict = Self(
        name: "conflict",
        summary: "It was changed in the meantime.",
        advice: "Load it again and repeat the change."
    )
    /// The source does not accept the contents.
    public static let invalid = Self(
        name: "invalid",
        summary: "The service or the store rejected the contents.",
        advice: "Correct the contents as the cause says."
    )
    /// The source refused.
    public static let refused = Self(
        name: "refused",
        summary: "The service refused the request.",
        advice: "See the cause: it has the service's response."
    )
    /// The app cannot interpret the source's response.
    public static let unexpectedResponse = Self(
        name: "unexpectedResponse",
        summary: "The response could not be understood.",
        advice: "Update the app; the cause names the location of the problem."
    )
    /// The store on this device failed.
    public static let storageFailed = Self(
        name: "storageFailed",
        summary: "The data on this device cannot be used.",
        advice: "Follow the advice of the cause."
    )
    /// The device is out of storage.
    public static let storageFull = Self(
        name: "storageFull",
        summary: "There is no space left on this device.",
        advice: "Free some disk space, then try again."
    )
    /// The repository lacks the operation.
    public static let unsupported = Self(
        name: "unsupported",
        summary: "The repository does not support this operation.",
        advice: "Add the operation that the cause names to its data source."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )
    /// A failure that could not be classified.
    public static let unknown = Self(
        name: "unknown",
        summary: "An unknown error occurred.",
        advice: "Check the cause, and report it so that it can be classified."
    )

    public static let known: [Self] = [
        .unreachable, .unavailable, .connectionFailed, .signInRequired, .notPermitted, .notFound,
        .notCached, .conflict, .invalid, .refused, .unexpectedResponse, .storageFailed,
        .storageFull,
        .unsupported, .cancelled, .unknown,
    ]
}
