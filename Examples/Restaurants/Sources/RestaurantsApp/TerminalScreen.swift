import Foundation
import RestaurantsPresentation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal, or what stands in its place.
enum TerminalScreen {
    static var standardOutput: Screen {
        Screen(width: width, style: style(of: STDOUT_FILENO)) { write($0, .standardOutput) }
    }

    static var standardError: Screen {
        Screen(width: width, style: errorStyle) { write($0, .standardError) }
    }

    static var errorStyle: Style { style(of: STDERR_FILENO) }

    /// Asks for a password without showing it; nil where nobody sits before a terminal.
    static func askForPassword() -> String? {
        guard isatty(STDIN_FILENO) == 1, let typed = getpass("Password: ") else { return nil }
        return String(cString: typed)
    }

    /// Takes lines that are for whoever looks into what the app does, and not its answer.
    static func log(_ line: String) { write("log: \(line)", .standardError) }

    /// Escape codes only where somebody looks at them.
    private static func style(of file: Int32) -> Style {
        let isWanted = ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty ?? true
        return isatty(file) == 1 && isWanted ? .terminal : .plain
    }

    private static var width: Int {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init) ?? 100
    }

    /// Written at once, not when a buffer is full: a watcher's lines are read as they come.
    private static func write(_ text: String, _ file: FileHandle) {
        file.write(Data("\(text)\n".utf8))
    }
}
