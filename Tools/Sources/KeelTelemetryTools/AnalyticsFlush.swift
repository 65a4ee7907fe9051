package import Foundation
package import KeelAnalytics
internal import KeelJournal
internal import KeelToolSupport

/// Delivers the pending events of one destination while the app is not running.
package struct AnalyticsFlush: Sendable {
    package struct Report: Sendable {
        package let ledger: AnalyticsLedger
        /// The number of events delivered in this run.
        package let delivered: Int
        /// Whether no events are left that could be sent.
        package let isDrained: Bool
        package let problem: String?
    }

    private let folder: URL
    private let destination: any AnalyticsDestination
    private let rules: DestinationRules

    /// Creates a delivery to a destination that has its name in the app.
    ///
    /// The app's own rules for the destination are not in the folder.
    package init(
        of folder: URL,
        to destination: any AnalyticsDestination,
        rules: DestinationRules
    ) {
        self.folder = folder
        self.destination = destination
        self.rules = rules
    }

    /// Delivers until nothing is left, a failure ends the delivery, or the limit is reached; events without consent
    /// stay.
    ///
    /// - Throws: `ToolError` if the app has no destination of the name; `AnalyticsError`, with the code `inUse` while
    ///   the app delivers.
    package func run(upTo limit: Duration) async throws -> Report {
        let name = destination.name
        let known = try AnalyticsInspection(of: folder).ledgers()
        guard let before = known[name] else {
            // A new name would start at the oldest event, and the destination would count it twice.
            let names = known.keys.sorted().joined(separator: ", ")
            throw ToolError(
                "The app has no destination “\(name)”",
                advice: names.isEmpty
                    ? "Its folder has none: check the path, or run the app with its destinations."
                    : "Name one of these with --name: \(names)."
            )
        }
        var configuration = AnalyticsConfiguration()
        configuration.add(destination, rules: rules)
        // The app's own bounds are not in the folder: a smaller one would remove events that other destinations await.
        configuration.journal.byteLimit = .max
        let service = try AnalyticsService(at: folder, configuration: configuration)
        guard service.isDelivering else {
            throw AnalyticsError(.inUse, "The app delivers the events itself")
        }
        let isDrained = await service.flush(upTo: limit)
        let status = service.status.destinations[name]
        let ledger = try service.ledgers()[name] ?? before
        return Report(
            ledger: ledger,
            delivered: ledger.delivered - before.delivered,
            isDrained: isDrained,
            problem: status?.problem?.description
        )
    }
}
