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
        abstract: "Delivers what waits for one destination of an app that does not run.",
        discussion: """
            Only what the user has consented to leaves; a default that the app's code sets does not \
            count here. What the app's code keeps back from the destination, by dropping or hashing \
            properties, is not in the folder either: repeat it with --drop, or say with --no-rules \
            that there is nothing to repeat.
            """
    )

    @OptionGroup var analytics: AnalyticsOptions

    @Option(help: "Whose format it is: keel, segment, mixpanel, amplitude, posthog or otlp.")
    var to: FlushTarget.Kind

    @Option(help: "The name that the app gives the destination, if it is another.")
    var name: String?

    @Option(help: "The address of the server; keel and otlp have none of their own.")
    var host: String?

    @Option(help: "The environment variable that holds the key, token or authorization.")
    var keyVariable = "KEEL_ANALYTICS_KEY"

    @Option(help: "A property that the destination does not get; may be repeated.")
    var drop: [String] = []

    @Flag(help: "Says that the app has no rules for the destination.")
    var noRules = false

    @Option(help: "How many seconds to try.")
    var timeout = 60

    func validate() throws {
        guard noRules != !drop.isEmpty else {
            throw ValidationError("Give either --drop NAME, or --no-rules; see --help.")
        }
        guard (1...86_400).contains(timeout) else {
            throw ValidationError("--timeout must be 1 to 86400 seconds.")
        }
        _ = try address()
    }

    private func address() throws -> URL? {
        guard let host else { return nil }
        guard let url = URL(string: host), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else { throw ValidationError("--host must be an http or https URL, but is “\(host)”.") }
        return url
    }

    func run() async throws {
        let output = analytics.output
        let target = FlushTarget(
            kind: to,
            name: name,
            host: try address(),
            key: ProcessInfo.processInfo.environment[keyVariable]
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
        try output.line("\(report.delivered) events delivered, \(report.ledger.pending) wait")
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
