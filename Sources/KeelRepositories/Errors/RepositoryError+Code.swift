public import KeelCore

extension RepositoryError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String
        let summary: String

        /// Creates a code, for a failure that no code here describes.
        public init(
            name: String,
            isTransient: Bool = false,
            summary: String,
            advice: String
        ) {
            self.name = name
            self.isTransient = isTransient
            self.summary = summary
            self.advice = advice
        }

        public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension RepositoryError.Code {
    /// The source could not be reached.
    public static let unreachable = Self(
        name: "unreachable",
        isTransient: true,
        summary: "The data could not be loaded: nobody answers.",
        advice: "Check the network connection, then try again."
    )

    /// The source is currently unavailable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        summary: "The data cannot be loaded just now.",
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
        advice: "Sign in again, then repeat what you did."
    )

    /// The user lacks permission.
    public static let notPermitted = Self(
        name: "notPermitted",
        summary: "This is not allowed.",
        advice: "Ask for the right to do this, or use another account."
    )

    /// The value does not exist.
    public static let notFound = Self(
        name: "notFound",
        summary: "There is no such thing.",
        advice: "It may have been deleted; load the list again."
    )

    /// The device has no copy, and the policy excludes the source.
    public static let notCached = Self(
        name: "notCached",
        summary: "Nothing is kept on this device.",
        advice: "Load it while there is a connection, or use another fetch policy."
    )

    /// The value has changed in the meantime.
    public static let conflict = Self(
        name: "conflict",
        summary: "It has been changed meanwhile.",
        advice: "Load it again and repeat the change."
    )

    /// The source does not accept the contents.
    public static let invalid = Self(
        name: "invalid",
        summary: "The contents are not accepted.",
        advice: "Correct the contents as the cause says."
    )

    /// The source refused.
    public static let refused = Self(
        name: "refused",
        summary: "The service refused.",
        advice: "See the cause: it has the answer of the service."
    )

    /// The app cannot interpret the source's response.
    public static let unexpectedResponse = Self(
        name: "unexpectedResponse",
        summary: "The answer could not be understood.",
        advice: "Update the app; the cause names the place."
    )

    /// The store on this device failed.
    public static let storageFailed = Self(
        name: "storageFailed",
        summary: "The data on this device cannot be used.",
        advice: "See the cause, and the advice of the error in it."
    )

    /// The device is out of storage.
    public static let storageFull = Self(
        name: "storageFull",
        summary: "There is no room left on this device.",
        advice: "Free some disk space, then try again."
    )

    /// The repository lacks the operation.
    public static let unsupported = Self(
        name: "unsupported",
        summary: "The repository does not offer this.",
        advice: "Give its data source the operation that the cause names."
    )

    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was cancelled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )

    /// A failure that could not be classified.
    public static let unknown = Self(
        name: "unknown",
        summary: "Something unknown went wrong.",
        advice: "Look at the cause, and report it as a missing classification."
    )

    public static let known: [Self] = [
        .unreachable, .unavailable, .connectionFailed, .signInRequired, .notPermitted, .notFound,
        .notCached, .conflict, .invalid, .refused, .unexpectedResponse, .storageFailed,
        .storageFull,
        .unsupported, .cancelled, .unknown,
    ]
}
