/// The exit codes of commands.
package enum ToolExit: Int32, Sendable, CaseIterable {
    /// Everything was done.
    case done = 0
    /// The command failed; what it had done until then stays done.
    case failed = 1
    /// Everything was done, with findings: bad lines, documents that differ or cannot be read, parts
    /// of a file that have no counterpart.
    case findings = 2
    /// The command line is wrong; nothing was done.
    case usage = 64
    /// SIGHUP ended it, because its terminal is gone.
    case hungUp = 129
    /// SIGINT ended it, such as Control-C.
    case interrupted = 130
    /// SIGTERM ended it.
    case terminated = 143
}
