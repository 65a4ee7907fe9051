public import KeelCore

extension JournalError {
    /// The kinds of journal failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension JournalError.Code {
    /// A limit or a name is outside the allowed range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// The record exceeds the journal's limit.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Make the record shorter, or raise the limit of the journal."
    )
    /// The journal has reached its bounds and is configured to refuse new records.
    public static let full = Self(
        name: "full",
        isTransient: true,
        advice: "Let the consumers catch up, raise the bounds, or drop the oldest records."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        isTransient: true,
        advice: "Free some disk space; earlier records are still stored."
    )
    /// The folder, or a file in it, cannot be read or written.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Make the journal's folder readable and writable for the program's user."
    )
    /// Another part of this program, or another program, has the consumer open.
    public static let consumerInUse = Self(
        name: "consumerInUse",
        isTransient: true,
        advice: "Share one JournalConsumer, or give each reader a separate name."
    )
    /// A record could not be encrypted, or cannot be decrypted with the given keys.
    public static let sealingFailed = Self(
        name: "sealingFailed",
        advice: "Open the journal with the keys that it was written with."
    )
    /// There is no journal in the folder, or no consumer of the name.
    public static let notFound = Self(
        name: "notFound",
        advice: "Check the path and the name; the program that writes a journal creates it."
    )
    /// The file system failed for another reason; the cause has the error number.
    public static let fileFailed = Self(
        name: "fileFailed",
        isTransient: true,
        advice: "See the cause; earlier records are still stored."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )

    public static let known: [Self] = [
        .invalidArgument, .tooLarge, .full, .diskFull, .permissionDenied, .consumerInUse,
        .sealingFailed, .notFound, .fileFailed, .cancelled,
    ]
}
