import ArgumentParser
import Foundation
import KeelAnalytics
import KeelAsyncHTTPClient
import KeelTelemetryTools
import KeelToolSupport

extension FlushTarget.Kind: ExpressibleByArgument {}

struct AnalyticsFlushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Delivers the pending events for one destination of an app that is not running.",
        discussion: """
            Only events that the user has consented to are sent; a default set in the app's code \
            does not count here. The app's own rules for the destination, which drop or hash \
            properties, are not in the folder either: repeat them with --drop, or confirm with \
            --no-rules that there are none.
            """
    )

    @OptionGroup var analytics: AnalyticsOptions

    @Option(help: "The format: keel, segment, mixpanel, amplitude, posthog or otlp.")
    var to: FlushTarget.Kind

    @Option(help: "The destination's name in the app; that of the format if it is not given.")
    var name: String?

    @Option(
        help: ArgumentHelp("The server; required for keel and otlp.", valueName: "url")
    )
    var server: String?

    @Option(help: "The environment variable with the key, token or authorization.")
    var keyVariable = "KEEL_ANALYTICS_KEY"

    @Option(help: "A property to withhold from the destination; can be repeated.")
    var drop: [String] = []

    @Flag(help: "Confirms that the app has no rules for the destination.")
    var noRules = false

    @Option(help: "The time limit in seconds.")
    var timeout = 60

    func validate() throws {
        guard noRules != !drop.isEmpty else {
            throw ValidationError("Add either --drop PROPERTY, or --no-rules; see --help.")
        }
        guard (1...86_400).contains(timeout) else {
            throw ValidationError("--timeout must be 1 to 86400 seconds.")
        }
        _ = try address()
    }

    private func address() throws -> URL? {
        guard let server else { return nil }
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else {
            throw ValidationError(
                "--server must be a URL such as https://analytics.example.org, but is “\(server)”."
            )
        }
        return url
    }

    func run() async throws {
        let output = analytics.output
        let target = FlushTarget(
            kind: to,
            name: name,
            host: try address(),
            keyVariable: keyVariable,
            environment: ProcessInfo.processInfo.environment
        )
        try await output.reporting {
            let transport = AsyncHTTPClientTransport()
            let result = await Self.result { [self] in
                try await AnalyticsFlush(
                    of: analytics.url,
                    to: target.destination(over: transport),
                    rules: DestinationRules(dropping: Set(drop))
                ).run(upTo: .seconds(timeout))
            }
            await transport.shutdown()
            let report = try result.get()
            try show(report, output)
            return report.isDrained ? .done : .findings
        }
    }

    private static func result<Value>(
        _ body: () async throws -> Value
    ) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    private func show(_ report: AnalyticsFlush.Report, _ output: CommandOutput) throws {
        guard !analytics.json else {
            try output.record(
                Summary(
                    delivered: report.delivered,
                    pending: report.ledger.pending,
                    rejected: report.ledger.rejected,
                    problem: report.problem
                )
            )
            return
        }
        try output.line(
            "\(report.delivered.counted("event")) delivered, \(report.ledger.pending) pending"
        )
        for (reason, count) in report.ledger.rejected.sorted(by: <) {
            output.message("rejected: \(count) \(reason)")
        }
        if !report.isDrained {
            output.message(
                report.problem.map { "The last attempt failed: \($0)" }
                    ?? "The time limit was reached."
            )
        }
    }

    private struct Summary: Encodable {
        let delivered: Int
        let pending: Int
        let rejected: [String: Int]
        let problem: String?
    }
}
