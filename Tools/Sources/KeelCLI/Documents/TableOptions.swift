import ArgumentParser
import Foundation
import KeelTerminal

/// The option of commands that write tables.
struct TableOptions: ParsableArguments {
    @Flag(help: "Shows values in full, also beyond the width of the terminal.")
    var wide = false

    /// The most columns of a line; nil where everything is shown.
    var width: Int? {
        guard !wide, isatty(STDOUT_FILENO) == 1 else { return nil }
        return TerminalSize(of: STDOUT_FILENO).columns
    }
}
