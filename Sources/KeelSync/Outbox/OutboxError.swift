public import KeelCore

/// Why a call of an outbox failed.
public struct OutboxError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The id of the write that the failure concerns, where there is one.
    public let write: String?

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String? = nil,
        write: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.write = write
        self.cause = cause
    }
}

extension OutboxError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension OutboxError.Code {
    /// The server refused the write for good, or every attempt that the policy allows failed.
    public static let rejected = Self(
        name: "rejected",
        summary: "The server did not take the write.",
        advice: "Look at the rejected writes of the outbox: send it again, change it, or drop it."
    )

    /// The write was dropped from the outbox before a server took it.
    public static let discarded = Self(
        name: "discarded",
        summary: "The write was dropped before it was sent.",
        advice: "Nothing to do, if dropping it was meant; otherwise put it in again."
    )

    /// There is no such write in the outbox.
    public static let notFound = Self(
        name: "notFound",
        summary: "There is no such write in the outbox.",
        advice: "It may have been sent or dropped meanwhile: look at the outbox again."
    )

    /// The write is being sent and cannot be changed now.
    public static let sending = Self(
        name: "sending",
        isTransient: true,
        summary: "The write is being sent just now.",
        advice: "Try again when the attempt is over."
    )

    /// The write is in the outbox and cannot be read; the cause says why.
    public static let damaged = Self(
        name: "damaged",
        summary: "The write is in the outbox and cannot be read.",
        advice: "See the cause. It is sent once it can be read; if that will not be, drop it and "
            + "put the write in again."
    )

    /// The store that the outbox is kept in failed; the cause says why.
    public static let storage = Self(
        name: "storage",
        summary: "The store of the outbox failed.",
        advice: "See the cause; what was put into the outbox before is still there."
    )

    /// The store cannot be used just now; the cause says why.
    public static let storageUnavailable = Self(
        name: "storageUnavailable",
        isTransient: true,
        summary: "The store of the outbox cannot be used just now.",
        advice: "Try again with the same write: its id keeps it from being sent twice."
    )

    /// The call was cancelled; a write that is in the outbox stays in it.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was cancelled.",
        advice: "Nothing to do: a write that is in the outbox is sent all the same."
    )

    public static let known: [Self] = [
        .rejected, .discarded, .notFound, .sending, .damaged, .storage, .storageUnavailable,
        .cancelled,
    ]
}
