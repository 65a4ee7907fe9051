public import KeelCore

/// An error of an outbox.
public struct OutboxError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The id of the affected write, if any.
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
    /// The server refused the write, or all attempts that the policy allows failed.
    public static let rejected = Self(
        name: "rejected",
        summary: "The server did not accept the write.",
        advice: "Retry, edit or discard the rejected write."
    )
    /// The write was dropped before the server accepted it.
    public static let discarded = Self(
        name: "discarded",
        summary: "The write was dropped before it was sent.",
        advice: "If this was not intended, enqueue the write again."
    )
    /// The outbox has no such write.
    public static let notFound = Self(
        name: "notFound",
        summary: "The outbox has no such write.",
        advice: "It may have been sent or dropped in the meantime."
    )
    /// The write is being sent and cannot be changed.
    public static let sending = Self(
        name: "sending",
        isTransient: true,
        summary: "The write is being sent.",
        advice: "Try again when the attempt has ended."
    )
    /// The entry of the write cannot be read; see the cause.
    public static let damaged = Self(
        name: "damaged",
        summary: "The write is in the outbox and cannot be read.",
        advice: "See the cause. The write is sent once it is readable; otherwise discard it and "
            + "enqueue it again."
    )
    /// The store of the outbox failed; see the cause.
    public static let storage = Self(
        name: "storage",
        summary: "The store of the outbox failed.",
        advice: "See the cause; earlier writes are still in the outbox."
    )
    /// The store is temporarily unavailable; see the cause.
    public static let storageUnavailable = Self(
        name: "storageUnavailable",
        isTransient: true,
        summary: "The store of the outbox is temporarily unavailable.",
        advice: "Try again with the same write: its id keeps it from being sent twice."
    )
    /// The call was canceled; a write that is in the outbox stays in it.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: a write in the outbox is still sent."
    )

    public static let known: [Self] = [
        .rejected, .discarded, .notFound, .sending, .damaged, .storage, .storageUnavailable,
        .cancelled,
    ]
}
