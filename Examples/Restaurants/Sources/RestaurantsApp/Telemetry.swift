import Foundation
import KeelHTTP
import KeelLogging
import Logging
import RestaurantsData
import RestaurantsDomain

/// The app's log and usage data, both on this device first.
struct Telemetry {
    let logger: Logger
    let usage: any UsageRepository
    private let analytics: AnalyticsUsageRepository?

    /// Opens both; the app also works without either.
    init(_ settings: Settings, over transport: any HTTPTransport) {
        let file = settings.telemetry.appending(path: "restaurants.log")
        let folder = settings.telemetry.appending(path: "usage")
        let isLogged = settings.isLogged
        do {
            try FileManager.default.createDirectory(
                at: settings.telemetry,
                withIntermediateDirectories: true
            )
            let factory = try LoggingPreset.production(at: file)
            logger = Logger(label: "restaurants", factory: factory)
        } catch {
            logger = Logger(label: "restaurants") { _ in SwiftLogNoOpLogHandler() }
            if isLogged { TerminalScreen.log("nothing is logged to a file: \(error)") }
        }
        do throws(DomainError) {
            let analytics = try AnalyticsUsageRepository(
                at: folder,
                server: settings.usageServer,
                over: transport
            )
            self.analytics = analytics
            usage = analytics
        } catch {
            // Another instance of the app uses the folder, or it is not writable.
            logger.logWarning("Usage is not recorded", metadata: ["reason": "\(error)"])
            analytics = nil
            usage = NoUsage()
        }
    }

    /// Sends the permitted data, as far as the server responds in time.
    func send(within limit: Duration) async { await analytics?.send(within: limit) }
}
