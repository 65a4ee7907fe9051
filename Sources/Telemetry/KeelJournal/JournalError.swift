public import KeelCore

/// An error of a journal operation, with advice on how to resolve it.
///
/// A corrupt record is not an error: it is skipped and counted. After a failed append, nothing of
/// the record is stored, except as ``Journal/append(_:)`` says.
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
    /// Maps a file system error to a code.
    init(_ error: FileSystemError, _ doing: String) {
        let code: Code =
            switch error.kind {
            case .noSpace: .diskFull
            case .notPermitted: .permissionDenied
            default: .fileFailed
            }
        self.init(code, "\(doing) failed", cause: error)
    }

    /// Calls a closure, and maps its error.
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
