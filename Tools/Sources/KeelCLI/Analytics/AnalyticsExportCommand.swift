import ArgumentParser
import Foundation
import KeelTelemetryTools
import KeelToolSupport

struct AnalyticsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes tracked events as lines of JSON, oldest first.",
        discussion: """
            Each line is a record of Keel's ingest format. Without --pending, these are all events \
            still on disk, including delivered ones, which are removed with their part of the \
            journal.
            """
    )

    @OptionGroup var analytics: AnalyticsOptions

    @Option(
        help: ArgumentHelp("Only events that are pending for this destination.", valueName: "name")
    )
    var pending: String?

    @Option(
        name: .shortAndLong,
        help: "The file; without one, or with -, standard output.",
        completion: .file()
    )
    var output: String?

    func run() async throws {
        let out = analytics.output
        try await out.reporting {
            let export = AnalyticsExport(of: analytics.url, pendingFor: pending)
            guard let output, output != "-" else {
                return Self.exit(try export.run { try out.line($0) }, out)
            }
            let target = URL(fileURLWithPath: output)
            try SeparateFiles.refuse(
                target,
                in: analytics.url,
                advice: "Name a file in another folder for --output."
            )
            let report = try await Interruption.value {
                var file = try ReplacedFile(target)
                do {
                    let report = try export.run { try file.append(line: $0) }
                    try file.finish()
                    return report
                } catch {
                    file.discard()
                    throw error
                }
            }
            if analytics.json {
                try out.record(report)
            } else {
                try out.line("\(report.events.counted("event")) exported")
            }
            return Self.exit(report, out)
        }
    }

    private static func exit(
        _ report: AnalyticsExport.Report,
        _ output: CommandOutput
    ) -> ToolExit {
        guard report.skippedCount > 0 else { return .done }
        output.message(
            """
            \(report.skippedCount.counted("record was", "records were")) skipped, written by another \
            version.
            """
        )
        return .findings
    }
}
