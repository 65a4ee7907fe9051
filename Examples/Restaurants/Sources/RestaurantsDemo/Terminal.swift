import Foundation

/// The terminal of the demonstration.
enum Terminal {
    private static let isWatched =
        isatty(STDOUT_FILENO) == 1
        && (ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty ?? true)

    /// Shows a text immediately.
    static func show(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    static func bold(_ text: String) -> String { escaped(text, "1") }
    static func faint(_ text: String) -> String { escaped(text, "2") }
    static func green(_ text: String) -> String { escaped(text, "32") }
    static func red(_ text: String) -> String { escaped(text, "31") }

    private static func escaped(_ text: String, _ code: String) -> String {
        isWatched ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
