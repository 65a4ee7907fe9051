import ArgumentParser
import Foundation
import KeelTelemetryTools
import KeelToolSupport

struct AnalyticsTopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the most frequent events and screens.",
        discussion: """
            It counts the records that are still on disk, delivered or not: a part of the journal \
            is removed when all of it has been delivered.
            """
    )

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case event
        case screen
    }

    @OptionGroup var analytics: AnalyticsOptions
    @OptionGroup var seal: JournalKeyOptions

    @Option(
        help: ArgumentHelp(
            "The start: 2026-11-22T09:00:00Z, 2026-11-22, or a time before now: 90s, 15m, 2h, 7d.",
            valueName: "time"
        )
    )
    var since: String?

    @Option(help: ArgumentHelp("The end, exclusive, in the same formats.", valueName: "time"))
    var until: String?

    @Option(help: "Only events, or only screens.")
    var kind: Kind?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The most lines to show.", valueName: "number")
    )
    var limit = 20

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
        _ = try LogOptions.moment(since, "--since", Date())
        _ = try LogOptions.moment(until, "--until", Date())
    }

    func run() async throws {
        let output = analytics.output
        let now = Date()
        try await output.reporting {
            var top = AnalyticsTop(of: analytics.url, sealing: try await seal.sealing())
            top.since = try LogOptions.moment(since, "--since", now)
            top.until = try LogOptions.moment(until, "--until", now)
            top.kind = kind?.rawValue
            let rows = try top.rows().prefix(limit)
            if !analytics.json { try output.line("   count    users  kind    name") }
            for row in rows {
                if analytics.json {
                    try output.record(row)
                } else {
                    let numbers = "\(Self.number(row.count)) \(Self.number(row.users))"
                    let kind = row.kind.padding(toLength: 6, withPad: " ", startingAt: 0)
                    try output.line("\(numbers)  \(kind)  \(row.name)")
                }
            }
            guard top.skippedCount > 0 else { return .done }
            output.message(
                """
                \(top.skippedCount.counted("record was", "records were")) skipped, written by another \
                version.
                """
            )
            return .findings
        }
    }

    private static func number(_ number: Int) -> String {
        let text = "\(number)"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}
