public import KeelCore
internal import KeelJournal

/// An error of an analytics call, with advice on how to resolve it.
///
/// Deliveries do not throw: see ``AnalyticsService/status``.
public struct AnalyticsError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence on what happened, without values of properties.
    ///   - cause: The underlying error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension AnalyticsError {
    /// The kinds of analytics failure; later versions may add more.
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

extension AnalyticsError.Code {
    /// A name, a limit or a rule is outside the allowed range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// Another service, in this process or another, is using the folder.
    public static let inUse = Self(
        name: "inUse",
        isTransient: true,
        advice: "Share one AnalyticsService, or give each instance a separate folder."
    )
    /// There is no analytics data in the folder, or no destination of the name.
    public static let notFound = Self(
        name: "notFound",
        advice: "Check the path and the name: the folder must be that of the app's service."
    )
    /// The user has not consented to the event's purpose, so it was not stored.
    public static let denied = Self(
        name: "denied",
        advice: "Nothing to do: the user decided. Track again after grantConsent(for:)."
    )
    /// The event exceeds the maximum record size.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Shorten the event's properties, or raise the journal's recordByteLimit."
    )
    /// The journal has reached its bounds and is configured to refuse new records.
    public static let full = Self(
        name: "full",
        isTransient: true,
        advice: "Let destinations catch up, raise the journal's bounds, or drop the oldest events."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        isTransient: true,
        advice: "Free some disk space; earlier events are still stored."
    )
    /// The folder, or a file in it, cannot be read or written.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Make the folder readable and writable for the program's user."
    )
    /// The file system or the journal failed for another reason; see the cause.
    public static let fileFailed = Self(
        name: "fileFailed",
        isTransient: true,
        advice: "See the cause; earlier events are still stored."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )

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

    /// Maps a file system error to a code.
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
