import ArgumentParser
import Foundation
import KeelLogging
import KeelStorage
import KeelTelemetryTools
import KeelTerminal
import KeelToolSupport
import Logging

/// The options of all log commands.
struct LogOptions: ParsableArguments {
    @Argument(
        help: """
            Log files and folders of journals; several are merged by time. - is standard input, \
            read to its end.
            """,
        completion: .file()
    )
    var paths: [String]

    @OptionGroup var seal: JournalKeyOptions

    @Option(help: "The minimum level.")
    var level = LogThreshold.trace

    @Option(help: "The label of the logger, or a prefix of it up to a dot.")
    var label: String?

    @Option(
        help: ArgumentHelp(
            """
            The start: 2026-11-22T09:00:00Z, 2026-11-22, or a time before now: 90s, 15m, \
            2h, 7d.
            """,
            valueName: "time"
        )
    )
    var since: String?

    @Option(help: ArgumentHelp("The end, exclusive, in the same formats.", valueName: "time"))
    var until: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            """
            A condition on a field: 'attempt >= 3', 'user == 7', 'parity in [even, odd]', as for \
            keel documents query; can be repeated, and all must hold.
            """,
            valueName: "condition"
        )
    )
    var fields: [String] = []

    @Option(help: "A text within the message, ignoring case.")
    var contains: String?

    @Option(help: "A regular expression that matches a part of the message; (?i) ignores case.")
    var matches: String?

    @Option(help: ArgumentHelp("The id of a trace.", valueName: "id"))
    var trace: String?

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        try Parsed.requireOneStandardInput(paths)
    }

    /// Runs a body with the paths of the logs, where a temporary copy stands for standard input.
    ///
    /// With a copy, a signal cancels the body.
    func withPaths(
        _ body: @escaping @Sendable ([String]) async throws -> ToolExit
    ) async throws -> ToolExit {
        guard paths.contains("-") else { return try await body(paths) }
        let paths = paths
        // Includes the body: a signal that has been watched no longer ends the process by itself.
        return try await Interruption.value {
            let copy = try StandardInput.copied()
            defer { StandardInput.discard(copy) }
            try Self.endLastLine(of: copy)
            return try await body(paths.map { $0 == "-" ? copy.path : $0 })
        }
    }

    /// Adds a missing line end: without it, the last line counts as one that is still being written.
    private static func endLastLine(of copy: URL) throws {
        let handle = try FileHandle(forUpdating: copy)
        defer { try? handle.close() }
        let end = try handle.seekToEnd()
        guard end > 0 else { return }
        try handle.seek(toOffset: end - 1)
        let last = try handle.read(upToCount: 1)
        if last?.first != UInt8(ascii: "\n") { try handle.write(contentsOf: Data("\n".utf8)) }
    }

    /// Opens the logs.
    func source(
        of paths: [String],
        from start: LogFileReader.Start = .oldest
    ) async throws -> MergedLogSource {
        let sealing = try await seal.sealing()
        return MergedLogSource(
            try paths.map { path in
                try LogSource(URL(fileURLWithPath: path), from: start, sealing: sealing)
            }
        )
    }

    /// Returns the conditions; throws `ValidationError` for an invalid option.
    func filter(now: Date = Date()) throws -> LogFilter {
        var filter = LogFilter()
        filter.level = Logger.Level(rawValue: level.rawValue) ?? .trace
        filter.label = label
        filter.text = contains
        filter.trace = trace
        if let matches {
            do {
                filter.pattern = try LogFilter.Pattern(matches)
            } catch {
                throw ValidationError(
                    "--matches is not a regular expression: “\(matches)”: \(error)"
                )
            }
        }
        filter.since = try Self.moment(since, "--since", now)
        filter.until = try Self.moment(until, "--until", now)
        filter.fields = try fields.map { text in
            guard case .field(let path, let comparison, let value) = try Parsed.filter(text),
                let field = LogFilter.Field(
                    path.names.joined(separator: "."),
                    comparison,
                    value
                )
            else {
                throw ValidationError(
                    """
                    --where takes texts, numbers and booleans, and lists of them after in, not-in and \
                    array-contains-any: type 'user == 7' or 'user in [7, 8]', not “\(text)”.
                    """
                )
            }
            return field
        }
        return filter
    }

    /// Parses a time of an option, in microseconds since 1970; throws `ValidationError` for another text.
    static func moment(_ text: String?, _ option: String, _ now: Date) throws -> Int64? {
        guard let text else { return nil }
        let present = Int64(now.timeIntervalSince1970 * 1_000_000)
        guard let moment = LogMoment.microseconds(text, now: present) else {
            throw ValidationError(
                """
                \(option) must be 2026-11-22T09:00:00Z, 2026-11-22, 90s, 15m, 2h or 7d, but is \
                “\(text)”.
                """
            )
        }
        return moment
    }

    /// The format of records.
    var format: LogFormat {
        guard !json else { return .jsonLines }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let environment = ProcessInfo.processInfo.environment
        let hasColors = isTerminal && TerminalColors.areAllowed(by: environment)
        return .text(symbols: isTerminal, colors: hasColors, indentsLineBreaks: isTerminal)
    }
}

extension CommandOutput {
    func write(_ record: LogRecord, as format: LogFormat) throws {
        try StandardOutput.write(format.bytes(of: record))
    }

    /// Reports the number of lines that were skipped, unless it is 0; returns the exit code.
    @discardableResult
    func foreign(_ count: Int) -> ToolExit {
        guard count > 0 else { return .done }
        message(
            """
            \(count.counted("line is not a record", "lines are not records")) in \
            KeelLogging's JSON format, and skipped.
            """
        )
        return .findings
    }
}
