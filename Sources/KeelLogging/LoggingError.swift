#if Logging

public import KeelCore

/// An error in setting up or reading logs, with advice on how to resolve it.
///
/// Log calls never throw: records that cannot be written are dropped, counted and reported later.
public struct LoggingError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence on what happened, without contents of records.
    ///   - cause: The underlying error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Maps a file system error to a code.
    init(_ error: FileSystemError, _ doing: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            case .busy: .busy
            default: error.isNotAFile ? .invalidArgument : .fileFailed
            }
        let more =
            code == .invalidArgument
            ? ": \(error.name) is a link or not a file; name the file itself" : ""
        self.init(code, "\(doing) failed\(more)", cause: error)
    }
}

extension LoggingError {
    /// The kinds of logging failure; later versions may add more.
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

extension LoggingError.Code {
    /// A limit, a name or an address is outside the allowed range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// There is no log at the path.
    public static let notFound = Self(
        name: "notFound",
        advice: "Check the path: it must be a log file, or the folder of a journal."
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
        advice: "Make the folder of the logs readable and writable for the program's user."
    )
    /// Another program held the lock of the logs beyond the waiting time.
    public static let busy = Self(
        name: "busy",
        isTransient: true,
        advice: "Look for a hanging process that holds the lock of the logs, or use another file."
    )
    /// The file system failed for another reason; the cause has the error number.
    public static let fileFailed = Self(
        name: "fileFailed",
        isTransient: true,
        advice: "See the cause; earlier records are still stored."
    )
    /// The journal of records to ship failed; see the cause.
    public static let journalFailed = Self(
        name: "journalFailed",
        isTransient: true,
        advice: "See the cause, an error of the journal, and its advice."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )

    public static let known: [Self] = [
        .invalidArgument, .notFound, .diskFull, .permissionDenied, .busy, .fileFailed,
        .journalFailed, .cancelled,
    ]
}

#endif
