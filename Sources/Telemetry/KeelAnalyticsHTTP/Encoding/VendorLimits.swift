/// The vendors' limits, in one place because they change.
///
/// From the vendors' public pages and the sources of their Python clients, 22 November 2026. Bytes
/// are of uncompressed JSON. `Documentation/AnalyticsDestinations.md` describes their effect.
enum VendorLimits {
    /// Segment, page “HTTP API Source”.
    enum Segment {
        /// An event: 32 KB, which the vendor's client counts as 32 KiB.
        static let eventBytes = 32 * 1024
        /// A request: 500 KB; the vendor's clients stop at 475,000 bytes, as does this one.
        static let batchBytes = 475_000
        /// Events per request; more are answered with 200 and dropped.
        static let batchEvents = 2500
    }

    /// Mixpanel, page “Import Events” (2 MB until 2023).
    enum Mixpanel {
        static let eventBytes = 1_000_000
        static let batchBytes = 10_000_000
        static let batchEvents = 2000
        /// “Fewer than 255” properties, members and elements.
        static let count = 254
        static let depth = 3
        /// Longer texts are truncated by the vendor.
        static let text = 255
        /// Profile updates per request to `/engage`, as in the vendor's clients.
        static let profiles = 50
        /// Refused values of `distinct_id` and `$insert_id`, in lowercase.
        static let refusedIDs: Set<String> = [
            "00000000-0000-0000-0000-000000000000", "anon", "anonymous", "nil", "none", "null",
            "n/a", "na", "undefined", "unknown", "<nil>", "0", "-1", "true", "false", "[]", "{}",
            "lmy47d",
        ]
        /// Events that join users; identification records produce them.
        static let reservedNames: Set<String> = ["$identify", "$create_alias", "$merge"]
    }

    /// Amplitude, pages “HTTP V2 API” and “Batch Event Upload API”.
    enum Amplitude {
        /// A request must be smaller than this.
        static let batchBytes = 1_000_000
        /// A request must have fewer events than this.
        static let batchEvents = 2000
        static let text = 1024
        static let name = 1024
        static let count = 1024
        static let depth = 40
        static let minimumIDLength = 5
        static let reservedNames: Set<String> = [
            "[Amplitude] Start Session", "[Amplitude] End Session", "[Amplitude] Revenue",
            "[Amplitude] Revenue (Verified)", "[Amplitude] Revenue (Unverified)",
            "[Amplitude] Merged User", "$identify", "$groupidentify",
        ]
        /// Refused ids, in lowercase.
        static let refusedIDs: Set<String> = [
            "anonymous", "nil", "none", "null", "n/a", "na", "undefined", "unknown", "<nil>", "0",
            "-1", "true", "false", "[]", "{}", "00000000-0000-0000-0000-000000000000",
        ]
        /// The delay after 429 without a Retry-After field.
        static let throttlePause = Duration.seconds(30)
    }

    /// PostHog, pages “Capture API” and “Ingestion warnings”.
    enum PostHog {
        static let eventBytes = 1_000_000
        /// The vendor accepts 20 MB; its clients stop at 5 MiB, as does this one.
        static let batchBytes = 5 * 1024 * 1024
        static let batchEvents = 1000
        static let distinctID = 200
        /// Refused ids, in any case.
        static let refusedIDs: Set<String> = [
            "anonymous", "guest", "distinctid", "distinct_id", "id", "not_authenticated", "email",
            "undefined", "true", "false",
        ]
        /// Refused ids, in this case.
        static let refusedSpellings: Set<String> = [
            "[object Object]", "NaN", "None", "none", "null", "0",
        ]
        /// Reserved events; other kinds of records produce them.
        static let reservedNames: Set<String> = [
            "$identify", "$create_alias", "$merge_dangerously", "$groupidentify", "$set", "$screen",
        ]
    }

    /// Google Analytics 4, pages “Measurement Protocol reference” and “Event collection limits”.
    enum GoogleAnalytics {
        static let batchBytes = 130_000
        static let batchEvents = 25
        static let parameters = 25
        static let name = 40
        static let text = 100
        static let userProperties = 25
        static let userPropertyName = 24
        static let userPropertyText = 36
        static let userID = 256
        static let items = 200
        /// The maximum age of an event in seconds.
        static let age = 72.0 * 3600
        static let reservedPrefixes = ["google_", "ga_", "firebase_", "gtag.", "_"]
        static let reservedEvents: Set<String> = [
            "ad_activeview", "ad_click", "ad_exposure", "ad_impression", "ad_query", "ad_reward",
            "adunit_exposure", "app_background", "app_clear_data", "app_exception", "app_install",
            "app_remove", "app_store_refund", "app_store_subscription_cancel",
            "app_store_subscription_convert", "app_store_subscription_renew", "app_update",
            "app_upgrade", "dynamic_link_app_open", "dynamic_link_app_update",
            "dynamic_link_first_open", "error", "first_open", "first_visit", "in_app_purchase",
            "notification_dismiss", "notification_foreground", "notification_open",
            "notification_receive", "notification_send", "os_update", "session_start",
            "session_start_with_rollout", "user_engagement",
        ]
        static let reservedParameters: Set<String> = [
            "engagement_time_msec", "gclid", "session_id", "session_number",
        ]
        static let reservedUserProperties: Set<String> = [
            "first_open_time", "first_open_after_install", "first_visit_time",
            "last_deep_link_referrer", "last_gclid", "session_id", "session_number", "user_id",
        ]
    }

    /// OpenTelemetry leaves limits to the receiver; these suit its collector, which accepts 20 MiB.
    enum OpenTelemetry {
        static let eventBytes = 1_000_000
        static let batchBytes = 4_000_000
        static let batchEvents = 1000
    }

    /// Keel's own ingest, `Documentation/Protocols/AnalyticsIngest.md`.
    enum KeelServer {
        static let eventBytes = 64 * 1024
        static let batchBytes = 1024 * 1024
        static let batchEvents = 1000
    }
}
