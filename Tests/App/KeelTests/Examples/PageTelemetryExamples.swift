import Foundation
import HTTPTypes
import Keel
import KeelAnalytics

#if Logging
import KeelJournal
import KeelLogging
import KeelLoggingOTLP
import Logging
#endif

/// Examples from the pages about analytics and logging; compiled but not run, see
/// ``ArticleExamples``.
enum PageTelemetryExamples {
    static func analytics(_ folder: URL) throws {
        var configuration = AnalyticsConfiguration()
        configuration.context.appVersion = "2.1.0"
        configuration.add(HandlerDestination("console") { record in print(record.kind) })
        let analytics = try AnalyticsService(at: folder, configuration: configuration)

        // Once, for as long as the app runs:
        Task { await analytics.run() }

        try analytics.grantConsent(for: .analytics)
        analytics.trackScreen("Menu")
        analytics.trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
        analytics.trackUserProperty("plan", value: "gold")
        analytics.setUserID("u-17")
    }

    static func current(_ analytics: AnalyticsService, app: () async throws -> Void) async throws {
        try await withAnalytics(analytics) {
            trackScreen("Menu")
            trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
            try await app()
        }
    }

    #if Logging
    static func observing() -> KeelConfiguration {
        let keel = KeelConfiguration.production("Notes", observer: .logger(Logger(label: "keel")))
        return keel
    }

    struct User {
        var name: String
    }

    static func logging(_ folder: URL, _ error: any Error) throws {
        #if DEBUG
        LoggingSystem.bootstrap(LoggingPreset.development())
        #else
        LoggingSystem.bootstrap(try LoggingPreset.production(at: folder.appending(path: "app.log")))
        #endif

        let logger = Logger(label: "app")
        logger.info("opened", metadata: ["page": "home"])
        logger.logError("The list did not load", error: error)
        logger.logFatal("The database is damaged", error: error)  // on the disk when it returns
    }

    static func redaction(_ logger: Logger, _ user: User, _ host: String, _ token: String) {
        logger.info(
            "signed in",
            metadata: [
                "user": "\(user.name, sensitivity: .sensitive)",  // always replaced
                "host": "\(host, sensitivity: .public)",  // never: the author vouches for it
                "access_token": "\(token)",  // replaced because of its name
                "note": "from 192.0.2.7",  // replaced in part because of its form
            ]
        )
    }

    static func files(_ folder: URL) throws -> RotatingLogFile {
        // 10 MiB a file, 100 MiB in all, gzip, JSON lines
        var configuration = LogFileConfiguration()
        configuration.period = .day
        configuration.ageLimit = .seconds(14 * 86_400)
        let file = try RotatingLogFile(at: folder.appending(path: "app.log"), configuration)
        return file
    }

    static func shipping(
        _ folder: URL,
        _ file: URL,
        _ endpoint: URL,
        _ transport: any HTTPTransport
    ) async throws {
        let journal = try Journal(at: folder.appending(path: "logs"))
        let output = OTLPLogOutput(journal)
        LoggingSystem.bootstrap(try LoggingPreset.production(at: file, shipping: output))

        // https://collector.example/v1/logs
        var configuration = OTLPLogConfiguration(endpoint: endpoint)
        configuration.headers["Authorization"] = "Bearer …"
        configuration.resource["service.name"] = "my-app"
        let exporter = try OTLPLogExporter(journal, to: configuration, over: transport)
        // Until cancelled, beside the rest of the app.
        await exporter.run()
        // What there is now; before the end of a program.
        await exporter.flush()
    }
    #endif
}
