import Foundation
import HTTPTypes
import Keel
import KeelAnalytics
import KeelAnalyticsHTTP
import KeelJournal
import KeelTestKit
import Testing

/// Examples from the comments of KeelAnalytics and KeelJournal; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func analyticsEvent(_ analytics: AnalyticsService) async throws {
        struct OrderPlaced: TypedAnalyticsEvent {
            static let name = "order_placed"
            var items: Int
            var total: Double
        }
        analytics.trackEvent(OrderPlaced(items: 2, total: 31.5))
    }

    static func analyticsConfiguration(
        _ key: String,
        _ connection: DestinationConnection,
        _ folder: URL
    ) async throws {
        var configuration = AnalyticsConfiguration()
        configuration.add(PostHogDestination(projectKey: key, connection: connection))
        configuration.context.appVersion = "2.1.0"
        let analytics = try AnalyticsService(at: folder, configuration: configuration)
        _ = configuration
        _ = analytics
    }

    static func analyticsServiceDelivery(_ analytics: AnalyticsService) async throws {
        await withTaskGroup { group in
            group.addTask { await analytics.run() }
        }
    }

    static func analyticsService2(_ folder: URL, _ configuration: AnalyticsConfiguration)
        async throws
    {
        let analytics = try AnalyticsService(at: folder, configuration: configuration)
        async let deliveries: Void = analytics.run()
        try analytics.grantConsent(for: .analytics)
        analytics.trackEvent("order_placed", parameters: ["items": 2, "total": 31.5])
        await deliveries
    }

    static func analyticsInspection(_ folder: URL) async throws {
        let inspection = try AnalyticsInspection(of: folder)
        for (name, ledger) in try inspection.ledgers() { print(name, ledger.pending) }
        _ = inspection
    }
}

// KeelJournal
extension CommentExamples {
    static func journalInspection(_ folder: URL) async throws {
        let inspection = try JournalInspection(of: folder)
        for consumer in try inspection.consumers() { print(consumer.name, consumer.counts.pending) }
        _ = inspection
    }

    static func journal2(_ folder: URL, _ bytes: [UInt8]) async throws {
        let journal = try Journal(at: folder)
        let consumer = try journal.consumer("server")
        try journal.append(bytes)
        for record in try consumer.read(upTo: 100) {
            try await send(record.bytes)
            try consumer.acknowledge([record.position])
        }
        _ = journal
        _ = consumer
    }
}
