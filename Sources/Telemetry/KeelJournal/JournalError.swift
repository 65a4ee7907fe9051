public import KeelCore

/// An error of a journal operation, with advice on how to resolve it.
///
/// A corrupt record is not an error: it is skipped and counted.
public struct JournalError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error; the message is one sentence on what happened, without contents of records.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension JournalError {
    init(_ error: FileSystemError, _ doing: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            default: .fileFailed
            }
        self.init(code, "\(doing) failed", cause: error)
    }

    static func mapped<Value>(
        _ doing: String,
        _ body: () throws(FileSystemError) -> Value
    ) throws(JournalError) -> Value {
        do throws(FileSystemError) {
            return try body()
        } catch {
            throw JournalError(error, doing)
        }
    }
}

extension JournalError {
    /// The kinds of journal failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension JournalError.Code {
    /// A limit or a name is outside the allowed range.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message says; repeating it unchanged fails again.")
    }
    /// The record exceeds the journal's limit.
    public static var tooLarge: Self {
        .permanent("Make the record shorter, or raise the limit of the journal.")
    }
    /// The journal has reached its bounds and is configured to refuse new records.
    public static var full: Self {
        .transient("Let the consumers catch up, raise the bounds, or drop the oldest records.")
    }
    /// The disk is full.
    public static var diskFull: Self {
        .transient("Free some disk space; earlier records are still stored.")
    }
    /// The folder, or a file in it, cannot be read or written.
    public static var permissionDenied: Self {
        .permanent("Make the journal's folder readable and writable for the program's user.")
    }
    /// Another part of this program, or another program, has the consumer open.
    public static var consumerInUse: Self {
        .transient("Share one JournalConsumer, or give each reader a separate name.")
    }
    /// A record could not be encrypted, or cannot be decrypted with the given keys.
    public static var sealingFailed: Self {
        .permanent("Open the journal with the keys that it was written with.")
    }
    /// The folder has no journal, or the journal has no consumer of this name.
    public static var notFound: Self {
        .permanent("Check the path and the name; the program that writes a journal creates it.")
    }
    /// The file system failed for another reason; the cause has the error number.
    public static var fileFailed: Self {
        .transient("See the cause; earlier records are still stored.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }

    public static let known: [Self] = [
        .invalidArgument, .tooLarge, .full, .diskFull, .permissionDenied, .consumerInUse,
        .sealingFailed, .notFound, .fileFailed, .cancelled,
    ]
}
