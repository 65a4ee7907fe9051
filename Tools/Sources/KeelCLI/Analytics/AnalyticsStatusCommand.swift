import ArgumentParser
import KeelTelemetryTools
import KeelToolSupport

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
