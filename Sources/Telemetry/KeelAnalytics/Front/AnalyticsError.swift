public import KeelCore
internal import KeelJournal

/// An error of an analytics call, with advice on how to resolve it.
///
/// Deliveries do not throw: see ``AnalyticsService/status``.
public struct AnalyticsError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error; the message is one sentence on what happened, without values of properties.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension AnalyticsError {
    /// The kinds of analytics failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension AnalyticsError.Code {
    /// A name, a limit or a rule is outside the allowed range.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message says; repeating it unchanged fails again.")
    }
    /// Another service, in this process or another, delivers the events of the folder.
    public static var inUse: Self {
        .transient("Do it with the service that delivers the events, or wait for its end.")
    }
    /// There is no analytics data in the folder, or no destination of the name.
    public static var notFound: Self {
        .permanent("Check the path and the name: the folder must be that of the app's service.")
    }
    /// The user has denied consent for the event's purpose, so it was not stored.
    public static var denied: Self {
        .permanent("Nothing to do: the user decided. Track again after grantConsent(for:).")
    }
    /// The event exceeds the maximum record size.
    public static var tooLarge: Self {
        .permanent("Shorten the event's properties, or raise the journal's recordByteLimit.")
    }
    /// The journal has reached its bounds and is configured to refuse new records.
    public static var full: Self {
        .transient(
            "Let destinations catch up, raise the journal's bounds, or drop the oldest events."
        )
    }
    /// The disk is full.
    public static var diskFull: Self {
        .transient("Free some disk space; earlier events are still stored.")
    }
    /// The folder, or a file in it, cannot be read or written.
    public static var permissionDenied: Self {
        .permanent("Make the folder readable and writable for the program's user.")
    }
    /// The file system or the journal failed for another reason; see the cause.
    public static var fileFailed: Self {
        .transient("See the cause; earlier events are still stored.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }

    public static let known: [Self] = [
        .invalidArgument, .inUse, .notFound, .denied, .tooLarge, .full, .diskFull,
        .permissionDenied, .fileFailed, .cancelled,
    ]
}

extension AnalyticsError {
    /// Maps a journal error to a code.
    init(_ error: JournalError, _ doing: String) {
        let code: Code =
            switch error.code {
            case .tooLarge: .tooLarge
            case .full: .full
            case .diskFull: .diskFull
            case .permissionDenied: .permissionDenied
            case .consumerInUse: .inUse
            case .notFound: .notFound
            case .invalidArgument: .invalidArgument
            default: .fileFailed
            }
        self.init(code, "\(doing) failed: \(error.message)", cause: error)
    }

    static func mapped<Value>(
        _ doing: String,
        _ body: () throws(JournalError) -> Value
    ) throws(AnalyticsError) -> Value {
        do throws(JournalError) {
            return try body()
        } catch {
            throw AnalyticsError(error, doing)
        }
    }

    init(_ error: FileSystemError, _ doing: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            case .busy: .inUse
            default: .fileFailed
            }
        self.init(code, "\(doing) failed", cause: error)
    }
}
