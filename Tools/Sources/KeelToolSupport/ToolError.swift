internal import Foundation
internal import KeelCore

/// A failure of a tool: what happened, and what to do about it.
package struct ToolError: LocalizedError, CustomStringConvertible {
    package let message: String
    package let advice: String
    /// The exit code; nil for that of the command's failures.
    package let exit: ToolExit?
    /// The name of the error's code, for programs; nil if it has none.
    package let code: String?

    package init(
        _ message: String,
        advice: String,
        exit: ToolExit? = nil,
        code: String? = nil
    ) {
        self.message = message
        self.advice = advice
        self.exit = exit
        self.code = code
    }

    /// Describes any error, with advice for users of the command line.
    package init(describing error: any Error) {
        switch error {
        case let error as ToolError: self = error
        case let error as any KeelError:
            self.init(
                error.message + Self.cause(of: error),
                advice: ShellAdvice.text(for: error.code),
                code: error.code.name
            )
        default:
            // Foundation's texts do not name the file.
            let path = (error as? CocoaError).flatMap { $0.filePath ?? $0.url?.path }
            self.init(
                (path.map { "“\($0)”: " } ?? "") + Self.reason(error),
                advice: path == nil
                    ? "See the message; keel --help shows the arguments of a command."
                    : "Check the path, its permissions and the free space."
            )
        }
    }

    /// Returns the reason of a failure, in the words of the system if possible.
    package static func reason(_ error: any Error) -> String {
        guard let cause = (error as? CocoaError)?.underlying as? POSIXError else {
            return error.localizedDescription
        }
        return String(cString: strerror(cause.code.rawValue))
    }

    /// The cause in parentheses; empty if it is unknown, or if the message contains it.
    private static func cause(of error: any KeelError) -> String {
        guard let cause = error.cause else { return "" }
        // Other causes are for programmers.
        let isOfFileSystem = "\(type(of: cause))" == "FileSystemError"
        guard let text = (cause as? any KeelError)?.message ?? (isOfFileSystem ? "\(cause)" : nil),
            !error.message.contains(text)
        else { return "" }
        return " (\(text))"
    }

    package var errorDescription: String? { message }
    package var recoverySuggestion: String? { advice }
    package var description: String { "\(message)\n\(advice)" }
}

/// The exit codes of commands.
package enum ToolExit: Int32, Sendable, CaseIterable {
    case done = 0
    /// The command failed; completed work is kept.
    case failed = 1
    /// Everything was done, with findings, such as bad lines or documents that cannot be read.
    ///
    /// Commands that compare use it for a failure, and ``failed`` for a difference.
    case findings = 2
    /// The command line is wrong; nothing was done.
    case usage = 64
    /// SIGHUP, such as from a closed terminal.
    case hungUp = 129
    /// SIGINT, such as from Control-C.
    case interrupted = 130
    case terminated = 143
}
