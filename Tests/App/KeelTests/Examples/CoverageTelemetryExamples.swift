import Foundation
import KeelAnalytics
import KeelTestKit
import Testing

#if Logging
import KeelLogging
import Logging
#endif

@Suite("Coverage: logging and analytics")
struct CoverageTelemetryExamples {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "keel-coverage-\(UUID().uuidString)")

    #if Logging
    @Test("Row 3")
    func logging() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appending(path: "app.log")
        let file = try RotatingLogFile(at: place)
        let logger = Logger(label: "app") { RotatingFileLogHandler(label: $0, output: file) }
        logger.logInfo("signed in", metadata: ["access_token": "s3cr3t"])
        let text = try String(contentsOf: place, encoding: .utf8)
        #expect(text.contains("signed in") && !text.contains("s3cr3t"))
    }
    #endif

    @Test("Row 4")
    func analytics() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let vendor = ScriptedAnalyticsDestination("vendor")
        var configuration = AnalyticsConfiguration()
        configuration.add(vendor)
        let analytics = try AnalyticsService(at: folder, configuration: configuration)
        analytics.trackEvent("order_placed", parameters: ["items": 2])
        try analytics.grantConsent(for: .analytics)
        #expect(await analytics.flush())
        #expect(try analytics.ledgers()["vendor"]?.delivered == 1)
    }
}
