package import Foundation
package import KeelAnalytics
internal import KeelToolSupport

/// Delivers what waits for one destination of an app that does not run.
package struct AnalyticsFlush: Sendable {
    /// How it went.
    package struct Report: Sendable {
        package let ledger: AnalyticsLedger
        /// How many arrived in this run.
        package let delivered: Int
        /// Whether nothing is left that may leave.
        package let isDrained: Bool
        /// Why the last try failed.
        package let problem: String?
    }

    private let folder: URL
    private let destination: any AnalyticsDestination
    private let rules: DestinationRules

    /// Prepares a delivery.
    ///
    /// - Parameters:
    ///   - folder: The folder of the app's analytics.
    ///   - destination: The destination, under the name that the app gives it.
    ///   - rules: What it gets of each event: the app's own rules are not in the folder.
    package init(
        of folder: URL,
        to destination: any AnalyticsDestination,
        rules: DestinationRules
    ) {
        self.folder = folder
        self.destination = destination
        self.rules = rules
    }

    /// Delivers, as long as the limit allows.
    ///
    /// What the user has not consented to stays.
    package func run(upTo limit: Duration) async throws -> Report {
        let name = destination.name
        let known = try AnalyticsInspection(of: folder).ledgers()
        guard let before = known[name] else {
            // A new name would get everything, and the destination counts it twice.
            let names = known.keys.sorted().joined(separator: ", ")
            throw ToolError(
                "The app has no destination “\(name)”",
                advice: "Name one of these with --name: \(names)."
            )
        }
        var configuration = AnalyticsConfiguration()
        configuration.add(destination, rules: rules)
        let service = try AnalyticsService(at: folder, configuration: configuration)
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
