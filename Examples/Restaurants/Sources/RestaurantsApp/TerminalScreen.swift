import Foundation
import RestaurantsPresentation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal, or its replacement.
enum TerminalScreen {
    static var standardOutput: Screen {
        Screen(width: width, style: style(of: STDOUT_FILENO)) { write($0, .standardOutput) }
    }

    static var standardError: Screen {
        Screen(width: width, style: errorStyle) { write($0, .standardError) }
    }

    static var errorStyle: Style { style(of: STDERR_FILENO) }

    /// Asks for a password without echoing it; nil without a terminal.
    static func askForPassword() -> String? {
        guard isatty(STDIN_FILENO) == 1, let typed = getpass("Password: ") else { return nil }
        return String(cString: typed)
    }

    /// Writes diagnostic lines, separate from the output.
    static func log(_ line: String) { write("log: \(line)", .standardError) }

    /// Escape codes are used only on a terminal.
    private static func style(of file: Int32) -> Style {
        let isWanted = ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty ?? true
        return isatty(file) == 1 && isWanted ? .terminal : .plain
    }

    private static var width: Int {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init) ?? 100
    }

    /// Written without buffering, because a watcher's lines are read as they arrive.
    private static func write(_ text: String, _ file: FileHandle) {
        file.write(Data("\(text)\n".utf8))
    }
}
