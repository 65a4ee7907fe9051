import ArgumentParser
import Foundation
import KeelLogging
import KeelTelemetryTools
import KeelTerminal
import KeelToolSupport

struct LogsTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Shows the last records of logs, and new ones with --follow.",
        discussion: """
            With --follow, it follows a log across rotations until Control-C, with exit code 0.
            """
    )

    /// The pause after all records of a followed log were read.
    private static let pause = Duration.milliseconds(200)

    @OptionGroup var log: LogOptions

    @Option(
        name: [.customShort("n"), .customLong("lines")],
        help: "The number of records from the end."
    )
    var lines = 20

    @Flag(name: .shortAndLong, help: "Continues with new records.")
    var follow = false

    func validate() throws {
        guard lines >= 0 else { throw ValidationError("--lines must not be negative.") }
        guard !follow || !log.paths.contains("-") else {
            throw ValidationError("--follow needs files: type a path instead of -.")
        }
        _ = try log.filter()
    }

    func run() async throws {
        let output = CommandOutput(isJSON: log.json)
        let (filter, format, lines) = (try log.filter(), log.format, lines)
        try await output.reporting {
            try await log.withPaths { paths in
                // The current file of one log can be older than the rotated files of another.
                let start = paths.count == 1 ? LogFileReader.Start.current : .oldest
                let first = try await log.source(of: paths, from: start)
                var (source, last) = try Self.last(lines, of: first, filter)
                if last.count < lines, start == .current {
                    // The rotated files have the missing ones.
                    let all = try await log.source(of: paths)
                    (source, last) = try Self.last(lines, of: all, filter)
                }
                for record in last { try output.write(record, as: format) }
                var reported = source.skippedCount
                let result = output.foreign(reported)
                guard follow else { return result }
                // Canceling the task would not end it while it waits for the reader of standard error.
                let watches = [SIGINT, SIGTERM].map { number in
                    SignalWatch(number) { Foundation.exit(ToolExit.done.rawValue) }
                }
                defer { withExtendedLifetime(watches) {} }
                while true {
                    let records = try source.read(upTo: 500)
                    output.foreign(source.skippedCount - reported)
                    reported = source.skippedCount
                    for record in records where filter.matches(record) {
                        try output.write(record, as: format)
                    }
                    // A pause while there is more would let a busy log get ahead.
                    if records.isEmpty { try await Task.sleep(for: Self.pause) }
                }
            }
        }
    }

    /// Reads a log to its end, and keeps the last matching records.
    private static func last(
        _ count: Int,
        of source: MergedLogSource,
        _ filter: LogFilter
    ) throws -> (MergedLogSource, [LogRecord]) {
        var last: [LogRecord] = []
        while case let records = try source.read(upTo: 500), !records.isEmpty {
            try Task.checkCancellation()
            last = (last + records.filter(filter.matches)).suffix(count)
        }
        return (source, last)
    }
}
