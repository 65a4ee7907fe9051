import KeelAnalytics
import KeelCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

enum SampleRecords {
    /// A text that must not appear in any problem or rejection.
    static let secret = "confidential-value-4711"

    static func event(
        _ number: Int,
        _ properties: [String: AnalyticsValue] = ["page": 1]
    ) -> AnalyticsRecord {
        record(number, .event("opened"), properties)
    }

    static func record(
        _ number: Int,
        _ kind: AnalyticsRecord.Kind,
        _ properties: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord {
        var record = AnalyticsRecord(
            id: "018bcfe5-6800-7000-8000-\(number.digits(12, radix: 16))",
            kind: kind,
            time: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
            userID: "user-\(secret)",
            anonymousID: "5d1c0c3e-0d8d-4d1f-9a55-2f8f0f8a7c11",
            session: .init(
                id: "018bcfe5-6800-7000-8000-ffffffffffff",
                start: Date(timeIntervalSince1970: 1_700_000_000)
            ),
            properties: properties
        )
        record.context.appName = "Sample"
        record.context.appVersion = "2.1.0"
        record.context.locale = "de-CH"
        if kind == .userProperties { record.userProperties = ["plan": "gold"] }
        return record
    }

    static let everyKind: [AnalyticsRecord] = [
        record(1, .event("opened"), ["page": 1]),
        record(2, .screen("Home"), ["tab": "first"]),
        record(3, .identify),
        record(4, .userProperties),
    ]

    static let everyValue: [AnalyticsRecord] = {
        let values: [AnalyticsValue] = [
            .null, true, false, 0, .integer(.max), .integer(.min), 0.5, -0.0,
            .double(.infinity), .double(.nan), .double(.leastNonzeroMagnitude), "",
            "a \"quoted\" \\ text\n\t\u{0} with é, 日本 and 🧭", .date(Date(timeIntervalSince1970: 0)),
            [], [1, "two", [nil]], [:], ["a": ["b": ["c": true]]],
        ]
        return values.enumerated().map { event(100 + $0, ["value": $1]) }
    }()
}
