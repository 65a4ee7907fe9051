import ArgumentParser
import KeelLogging
import KeelTelemetryTools

struct LogsQueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Shows or counts the records of logs that meet all conditions.",
        discussion: "The oldest records come first."
    )

    @OptionGroup var log: LogOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The most matching records to show; all if it is not given.",
            valueName: "number"
        )
    )
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "Counts records by level, label, message or a field instead.",
            valueName: "name"
        )
    )
    var countBy: String?

    @Option(
        name: [.customShort("C"), .long],
        help: "The number of records to show before and after each one, even if they do not match."
    )
    var context = 0

    func validate() throws {
        guard context >= 0 else { throw ValidationError("--context must not be negative.") }
        guard context == 0 || countBy == nil else {
            throw ValidationError("--context and --count-by cannot be combined: leave out one.")
        }
        guard (limit ?? 1) >= 1 else { throw ValidationError("--limit must be at least 1.") }
        guard limit == nil || countBy == nil else {
            throw ValidationError("--limit and --count-by cannot be combined: leave out one.")
        }
        _ = try log.filter()
    }

    func run() async throws {
        let output = CommandOutput(isJSON: log.json)
        let filter = try log.filter()
        try await output.reporting {
            try await log.withPaths { paths in
                let source = try await log.source(of: paths)
                if let countBy {
                    try count(source, filter, by: countBy, output)
                } else {
                    try show(source, filter, output)
                }
                return output.foreign(source.skippedCount)
            }
        }
    }

    private func show(
        _ source: MergedLogSource,
        _ filter: LogFilter,
        _ output: CommandOutput
    ) throws {
        let format = log.format
        var around = LogContext(context)
        var found = 0
        while case let records = try source.read(upTo: 500), !records.isEmpty {
            try Task.checkCancellation()
            for record in records {
                let isFound = found != limit && filter.matches(record)
                if isFound { found += 1 }
                for record in around.add(record, isSelected: isFound) {
                    try output.write(record, as: format)
                }
                if found == limit, around.isComplete { return }
            }
        }
    }

    private func count(
        _ source: MergedLogSource,
        _ filter: LogFilter,
        by name: String,
        _ output: CommandOutput
    ) throws {
        var counts = LogCounts(by: name)
        while case let records = try source.read(upTo: 500), !records.isEmpty {
            try Task.checkCancellation()
            for record in records where filter.matches(record) { counts.add(record) }
        }
        for (key, count) in counts.sorted {
            if log.json {
                try output.record(Count(value: key, count: count))
            } else {
                let number = "\(count)"
                let padding = String(repeating: " ", count: max(0, 8 - number.count))
                try output.line("\(padding)\(number)  \(key)")
            }
        }
    }

    private struct Count: Encodable {
        let value: String
        let count: Int
    }
}
