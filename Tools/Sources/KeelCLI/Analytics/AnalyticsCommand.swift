import ArgumentParser
import Foundation
import KeelTelemetryTools
import KeelToolSupport

struct AnalyticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "analytics",
        abstract: "Shows, exports and delivers the events that an app has tracked.",
        discussion: """
            FOLDER is the folder of the app's AnalyticsService. Inspecting and exporting \
            change nothing; the app may be running.

            Exit codes: 0 done; 1 failed; 2 done, with something to look at (records that were \
            skipped, events that are still pending, lost decisions); 64 the command line is invalid.

                keel analytics top FOLDER --since 7d
            """,
        subcommands: [
            AnalyticsStatusCommand.self, AnalyticsTopCommand.self, AnalyticsFlushCommand.self,
            AnalyticsExportCommand.self,
        ]
    )
}

/// The options of all analytics commands.
struct AnalyticsOptions: ParsableArguments {
    @Argument(help: "The folder of the app's AnalyticsService.", completion: .directory)
    var folder: String

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var url: URL { URL(fileURLWithPath: folder, isDirectory: true) }
    var output: CommandOutput { CommandOutput(isJSON: json) }
}

struct AnalyticsStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the user's decisions, and the outcome of the events for each destination."
    )

    @OptionGroup var analytics: AnalyticsOptions

    func run() async throws {
        let output = analytics.output
        try await output.reporting {
            let report = try AnalyticsReport(of: analytics.url)
            if analytics.json {
                try output.record(report)
            } else {
                for line in report.lines { try output.line(line) }
            }
            return report.hasLostSettings ? .findings : .done
        }
    }
}
