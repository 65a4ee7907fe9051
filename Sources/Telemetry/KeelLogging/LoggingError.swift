#if Logging

public import KeelCore

/// An error in setting up or reading logs, with advice on how to resolve it.
///
/// Log calls never throw: records that cannot be written are dropped, counted and reported later.
public struct LoggingError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error; the message is one sentence on what happened, without contents of records.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

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
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension LoggingError.Code {
    /// A limit, a name, a path or an address is not allowed.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message says; repeating it unchanged fails again.")
    }
    /// There is no log at the path.
    public static var notFound: Self {
        .permanent("Check the path: it must be a log file, or the folder of a journal.")
    }
    /// The disk is full.
    public static var diskFull: Self {
        .transient("Free some disk space; earlier records are still stored.")
    }
    /// The folder, or a file in it, cannot be read or written.
    public static var permissionDenied: Self {
        .permanent("Make the folder of the logs readable and writable for the program's user.")
    }
    /// Another program held the lock of the logs beyond the waiting time.
    public static var busy: Self {
        .transient(
            "Look for a hanging process that holds the lock of the logs, or use another file."
        )
    }
    /// The file system failed for another reason; the cause has the error number.
    public static var fileFailed: Self {
        .transient("See the cause; earlier records are still stored.")
    }
    /// The journal of records to ship failed; see the cause.
    public static var journalFailed: Self {
        .transient("See the cause, an error of the journal, and its advice.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }

    public static let known: [Self] = [
        .invalidArgument, .notFound, .diskFull, .permissionDenied, .busy, .fileFailed,
        .journalFailed, .cancelled,
    ]
}

#endif
