public import KeelCore

extension DataSourceError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension DataSourceError.Code {
    /// The service could not be reached, or the connection broke.
    public static let unreachable = Self(
        name: "unreachable",
        isTransient: true,
        summary: "The service could not be reached.",
        advice: "Check the network connection, then try again; show stored data in the meantime."
    )
    /// The source did not respond in time.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        summary: "The source did not respond in time.",
        advice: "Try again; show stored data in the meantime."
    )
    /// The source is currently unavailable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        summary: "The source is currently unavailable.",
        advice: "Try again later."
    )
    /// The service received too many requests.
    public static let throttled = Self(
        name: "throttled",
        isTransient: true,
        summary: "The service received too many requests.",
        advice: "Try again after the delay that the service asks for."
    )
    /// The exchange with the service failed for a non-transient reason.
    public static let connectionFailed = Self(
        name: "connectionFailed",
        summary: "The exchange with the service failed.",
        advice: "See the network error in the cause: often a certificate or a setting is wrong."
    )
    /// The source requires valid credentials.
    public static let unauthenticated = Self(
        name: "unauthenticated",
        summary: "The source requires valid credentials.",
        advice: "Let the user sign in again."
    )
    /// The user lacks permission.
    public static let forbidden = Self(
        name: "forbidden",
        summary: "The source does not allow this.",
        advice: "Check the rights of the user, or the permissions of the store."
    )
    /// The source has no such value.
    public static let notFound = Self(
        name: "notFound",
        summary: "The item does not exist at the source.",
        advice: "Check the identifier; the item may have been deleted."
    )
    /// The value has changed in the meantime, or already exists.
    public static let conflict = Self(
        name: "conflict",
        summary: "The item was changed in the meantime.",
        advice: "Read it again and repeat the change."
    )
    /// The service does not accept the contents.
    public static let invalid = Self(
        name: "invalid",
        summary: "The service does not accept the contents.",
        advice: "Show what the failure body reports, and let the user correct it."
    )
    /// The source refused for another reason.
    public static let refused = Self(
        name: "refused",
        summary: "The source refused the request.",
        advice: "Look at the status and the failure body in the cause."
    )
    /// The source's data cannot be decoded.
    public static let unreadable = Self(
        name: "unreadable",
        summary: "The source's response cannot be read.",
        advice: "Compare the DTO with the API or the stored form; the cause names the location."
    )
    /// The decoded value does not fit the domain.
    public static let unmappable = Self(
        name: "unmappable",
        summary: "The source's response does not fit the domain.",
        advice: "See the mapping error in the cause: it names the field."
    )
    /// The request is invalid before it reaches the source.
    public static let invalidRequest = Self(
        name: "invalidRequest",
        summary: "The request is invalid.",
        advice: "Correct the call as the cause says; repeating it unchanged fails again."
    )
    /// The store failed.
    public static let storage = Self(
        name: "storage",
        summary: "The store on this device failed.",
        advice: "See the cause, and the advice of the storage error in it."
    )
    /// The device is out of storage.
    public static let storageFull = Self(
        name: "storageFull",
        summary: "There is no space left on this device.",
        advice: "Free some disk space, then try again."
    )
    /// The source does not support the operation.
    public static let unsupported = Self(
        name: "unsupported",
        summary: "The source does not support this operation.",
        advice: "Add the operation that the message names to the data source."
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
        summary: "The source failed for an unknown reason.",
        advice: "Check the cause, and report it so that it can be classified."
    )

    public static let known: [Self] = [
        .unreachable, .timeout, .unavailable, .throttled, .connectionFailed, .unauthenticated,
        .forbidden, .notFound, .conflict, .invalid, .refused, .unreadable, .unmappable,
        .invalidRequest, .storage, .storageFull, .unsupported, .cancelled, .unknown,
    ]
}
