import Foundation
import KeelAnalytics

/// The event of the benchmarks: three properties, two of which vary.
struct TrackedOrder: Encodable {
    static let name = "order_placed"

    /// The event that an app passes to Keel.
    static func parameters(_ number: Int) -> [String: AnalyticsValue] {
        [
            "items": .integer(Int64(number % 8)), "total": .double(Double(number) + 0.95),
            "restaurant": "Trattoria Bella Vista",
        ]
    }

    /// The bytes that the peers store: the same event as JSON, with everything that Keel stores of it.
    static func json(_ number: Int) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(TrackedOrder(number))
    }

    private struct Properties: Encodable {
        let items: Int
        let total: Double
        let restaurant = "Trattoria Bella Vista"
    }

    private struct Context: Encodable {
        let appName: String?
        let systemName: String?
        let systemVersion: String?
        let deviceModel: String?
        let locale: String?
        let timeZone: String?
    }

    private let id = UUID().uuidString
    private let event = Self.name
    private let purpose = "analytics"
    private let time = Date().timeIntervalSince1970
    private let anonymousID = UUID().uuidString
    private let sessionID = UUID().uuidString
    private let sessionStart = Date().timeIntervalSince1970
    private let properties: Properties
    private let context: Context

    private init(_ number: Int) {
        properties = Properties(items: number % 8, total: Double(number) + 0.95)
        let current = AnalyticsContext.current
        context = Context(
            appName: current.appName,
            systemName: current.systemName,
            systemVersion: current.systemVersion,
            deviceModel: current.deviceModel,
            locale: current.locale,
            timeZone: current.timeZone
        )
    }
}
