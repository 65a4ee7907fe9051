public import KeelCore

/// Why a call of a journal failed, and what can be done about it.
///
/// A damaged record is no error: it is passed over and counted. Nothing of a record whose append
/// threw is kept.
public struct JournalError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, in one sentence without contents of records.
    ///   - cause: The error underneath.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code, the message and the cause on one line, fit for a log.
    public var description: String {
        "\(code.name): \(message)" + (cause.map { " (cause: \($0))" } ?? "")
    }
}

extension JournalError {
    /// Tells a failed call on files apart.
    init(_ error: FileSystemError, _ doing: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            default: .fileFailed
            }
        self.init(code, "\(doing) failed", cause: error)
    }
}
