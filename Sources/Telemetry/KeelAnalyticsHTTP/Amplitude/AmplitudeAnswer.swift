import KeelAnalytics

struct AmplitudeAnswer: Decodable {
    private let error: String?
    private let missingField: String?
    private let eventsWithInvalidFields: [String: [Int]]?
    private let eventsWithMissingFields: [String: [Int]]?
    private let eventsWithInvalidIDLengths: [String: [Int]]?
    private let silencedEvents: [Int]?
    private let throttledEvents: [Int]?
    private let usersOverDailyQuota: [String: Int]?
    private let devicesOverDailyQuota: [String: Int]?

    private enum CodingKeys: String, CodingKey {
        case error
        case missingField = "missing_field"
        case eventsWithInvalidFields = "events_with_invalid_fields"
        case eventsWithMissingFields = "events_with_missing_fields"
        case eventsWithInvalidIDLengths = "events_with_invalid_id_lengths"
        case silencedEvents = "silenced_events"
        case throttledEvents = "throttled_events"
        case usersOverDailyQuota = "exceeded_daily_quota_users"
        case devicesOverDailyQuota = "exceeded_daily_quota_devices"
    }

    var blamesKey: Bool {
        missingField == "api_key" || error?.lowercased().hasPrefix("invalid api key") == true
    }

    var rejections: [Int: AnalyticsRejection] {
        var rejections: [Int: AnalyticsRejection] = [:]
        for (fault, lists) in [
            ("is not valid", eventsWithInvalidFields), ("is missing", eventsWithMissingFields),
            ("is too short", eventsWithInvalidIDLengths),
        ] {
            for (field, indices) in lists ?? [:] {
                for index in indices {
                    rejections[index] = AnalyticsRejection(
                        "refused",
                        "Amplitude reports that the field '\(field)' \(fault)."
                    )
                }
            }
        }
        for index in silencedEvents ?? [] {
            rejections[index] = AnalyticsRejection(
                "silenced",
                "Amplitude accepts no events from this device: it was blocked."
            )
        }
        return rejections
    }

    /// Returns the throttled events of users and devices over their daily quota.
    ///
    /// The quota lasts until the next day; other throttled events are accepted after 30 seconds.
    func overDailyQuota(_ events: [AmplitudeEvent]) -> [Int] {
        (throttledEvents ?? []).filter { index in
            guard events.indices.contains(index) else { return false }
            let event = events[index]
            return event.userID.map { usersOverDailyQuota?[$0] != nil } == true
                || devicesOverDailyQuota?[event.deviceID] != nil
        }
    }
}
