/// The rules for colors.
package enum TerminalColors {
    /// Returns whether variables allow colors: `NO_COLOR` is empty (no-color.org), and `TERM` is not `dumb`.
    package static func areAllowed(by environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}
