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
        public let name: String
        public let isTransient: Bool
        public let advice: String
        let summary: String

        private init(
            _ name: String,
            isTransient: Bool = false,
            _ summary: String,
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

extension OutboxError.Code {
    /// The server refused the write, or all attempts that the policy allows failed.
    public static let rejected = Self(
        "rejected",
        "The server did not accept the write.",
        advice: "Retry, edit or discard the rejected write."
    )

    /// The write was dropped before the server accepted it.
    public static let discarded = Self(
        "discarded",
        "The write was dropped before it was sent.",
        advice: "If this was not intended, enqueue the write again."
    )

    /// The outbox has no such write.
    public static let notFound = Self(
        "notFound",
        "The outbox has no such write.",
        advice: "It may have been sent or dropped in the meantime."
    )

    /// The write is being sent and cannot be changed.
    public static let sending = Self(
        "sending",
        isTransient: true,
        "The write is being sent.",
        advice: "Try again when the attempt is over."
    )

    /// The entry of the write cannot be read; see the cause.
    public static let damaged = Self(
        "damaged",
        "The write is in the outbox and cannot be read.",
        advice: "See the cause. The write is sent once it is readable; otherwise discard it and "
            + "enqueue it again."
    )

    /// The store of the outbox failed; see the cause.
    public static let storage = Self(
        "storage",
        "The store of the outbox failed.",
        advice: "See the cause; what was put into the outbox before is still there."
    )

    /// The store is temporarily unavailable; see the cause.
    public static let storageUnavailable = Self(
        "storageUnavailable",
        isTransient: true,
        "The store of the outbox is temporarily unavailable.",
        advice: "Try again with the same write: its id keeps it from being sent twice."
    )

    /// The call was canceled; a write that is in the outbox stays in it.
    public static let cancelled = Self(
        "cancelled",
        "The call was cancelled.",
        advice: "Nothing to do: a write in the outbox is still sent."
    )

    public static let known: [Self] = [
        .rejected, .discarded, .notFound, .sending, .damaged, .storage, .storageUnavailable,
        .cancelled,
    ]
}
