/// Whether colors are written to a terminal.
package enum TerminalColors {
    /// Whether the variables allow colors.
    ///
    /// `NO_COLOR` forbids them unless it is empty (no-color.org), and so does `TERM=dumb`.
    package static func areAllowed(by environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}
