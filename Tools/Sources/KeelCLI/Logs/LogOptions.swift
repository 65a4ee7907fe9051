import ArgumentParser
import Foundation
import KeelLogging
import KeelTelemetryTools
import KeelToolSupport
import Logging

/// The options that every command about a log has.
struct LogOptions: ParsableArguments {
    @Argument(help: "The log file, or the folder of a journal.")
    var path: String

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
        help: ArgumentHelp("A field and its value; can be repeated.", valueName: "name=value")
    )
    var fields: [String] = []

    @Option(help: "A text within the message, ignoring case.")
    var contains: String?

    @Flag(help: "Writes JSON for programs, one record per line.")
    var json = false

    var url: URL { URL(fileURLWithPath: path) }

    /// The conditions.
    func filter(now: Date = Date()) throws -> LogFilter {
        var filter = LogFilter()
        filter.level = Logger.Level(rawValue: level.rawValue) ?? .trace
        filter.label = label
        filter.text = contains
        filter.since = try moment(since, "--since", now)
        filter.until = try moment(until, "--until", now)
        filter.fields = try fields.map { text in
            guard let field = LogFilter.Field(text) else {
                throw ValidationError("--where must be NAME=VALUE, but is “\(text)”.")
            }
            return field
        }
        return filter
    }

    private func moment(_ text: String?, _ option: String, _ now: Date) throws -> Int64? {
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

    /// How records are written.
    var format: LogFormat {
        guard !json else { return .jsonLines }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let hasColors = isTerminal && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        return .text(symbols: isTerminal, colors: hasColors, indentsLineBreaks: isTerminal)
    }
}

extension CommandOutput {
    /// Writes a record of a log.
    func write(_ record: LogRecord, as format: LogFormat) throws {
        try FileHandle.standardOutput.write(contentsOf: format.bytes(of: record))
    }

    /// Says what was passed over.
    func foreign(in source: LogSource) -> ToolExit {
        guard source.skippedCount > 0 else { return .done }
        message(
            """
            \(source.skippedCount) lines are not records in KeelLogging's JSON format and \
            were skipped.
            """
        )
        return .findings
    }
}
