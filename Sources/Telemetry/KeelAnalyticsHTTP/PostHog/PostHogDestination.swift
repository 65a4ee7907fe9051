import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to PostHog.
///
/// - Events keep their names; screens become `$screen`, identifications `$identify`, and changed
///   user properties `$set`.
/// - A record's id is the event's `uuid`, with which PostHog deduplicates: effectively once.
/// - Records with ids that PostHog considers a mistake (`null`, `guest` …) are refused.
///
/// Format: PostHog's pages “Capture API” and “Ingestion warnings”, November 2026.
public struct PostHogDestination: AnalyticsDestination {
    /// The servers in the United States.
    public static let unitedStates = URL.literal("https://us.i.posthog.com")
    /// The servers in Frankfurt.
    public static let europe = URL.literal("https://eu.i.posthog.com")

    public let name: String
    public let guarantee = DeliveryGuarantee.effectivelyOnce
    public let limits = BatchLimits(
        records: VendorLimits.PostHog.batchEvents,
        bytes: VendorLimits.PostHog.batchBytes
    )

    private let key: AccessToken
    private let client: VendorClient
    private let createsAnonymousProfiles: Bool
    private let rules = ValueRules.lenient

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - projectKey: The project's API key, `phc_…`; never part of a description.
    ///   - connection: The connection to the server.
    ///   - host: The server, or a proxy in front of it.
    ///   - createsAnonymousProfiles: Whether PostHog keeps profiles of anonymous users, which costs
    ///     more; their events count either way.
    ///   - name: The name within the service.
    public init(
        projectKey: String,
        connection: DestinationConnection,
        host: URL = PostHogDestination.unitedStates,
        createsAnonymousProfiles: Bool = false,
        name: String = "posthog"
    ) {
        self.name = name
        key = AccessToken(projectKey)
        client = VendorClient(host, connection, takesGzip: true)
        self.createsAnonymousProfiles = createsAnonymousProfiles
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try form(of: record).count + 1
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await client.deliver(batch, as: form, to: "/batch") { forms in
            JSONWriter.object { writer in
                writer.member("api_key", key.value)
                writer.member("historical_migration", false)
                writer.member("sent_at", client.time.internetText)
                writer.array("batch", of: forms)
            }
        } judge: { reply, prepared in
            // Any successful body is accepted: older servers return “Ok” or nothing.
            let answer = try? reply.decode(as: Answer.self)
            let isOverQuota = answer?.quotaLimited.contains("events") == true
            let dropped = isOverQuota ? prepared.forms.indices.map { ($0, Self.overQuota) } : []
            return .settled(rejected: Dictionary(uniqueKeysWithValues: dropped))
        }
    }

    private static let overQuota = AnalyticsRejection(
        "quotaExceeded",
        "PostHog dropped the event: the project's quota is exhausted."
    )

    private struct Answer: Decodable {
        let quotaLimited: [String]

        enum CodingKeys: String, CodingKey {
            case quotaLimited = "quota_limited"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            quotaLimited = try container.decodeIfPresent([String].self, forKey: .quotaLimited) ?? []
        }
    }

    // MARK: Format

    private func form(of record: AnalyticsRecord) throws(AnalyticsRejection) -> [UInt8] {
        try record.check(by: rules)
        let event: String
        switch record.kind {
        case .event(let name):
            guard !VendorLimits.PostHog.reservedNames.contains(name) else {
                throw .reservedName("PostHog")
            }
            event = name
        case .screen: event = "$screen"
        case .identify: event = "$identify"
        case .userProperties: event = "$set"
        }
        try Self.check(record.distinctID)
        let bytes = JSONWriter.object { writer in
            writer.member("event", event)
            writer.member("uuid", record.id)
            writer.member("timestamp", record.time.internetText)
            writer.member("distinct_id", record.distinctID)
            writer.object("properties") { writeProperties(of: record, to: &$0) }
        }
        return try bytes.atMost(VendorLimits.PostHog.eventBytes)
    }

    private static func check(_ id: String) throws(AnalyticsRejection) {
        let limit = VendorLimits.PostHog.distinctID
        guard id.unicodeScalars.count <= limit else {
            throw .invalidUser("The user's identifier has more than \(limit) characters.")
        }
        // PostHog also checks for these ids within quotation marks.
        let bare = id.filter { $0 != "'" && $0 != "\"" }
        guard !id.allSatisfy(\.isWhitespace),
            !VendorLimits.PostHog.refusedIDs.contains(bare.lowercased()),
            !VendorLimits.PostHog.refusedSpellings.contains(bare)
        else {
            throw .invalidUser("PostHog does not accept the user's identifier.")
        }
    }

    private func writeProperties(of record: AnalyticsRecord, to writer: inout JSONWriter) {
        rules.write(record.properties, to: &writer, except: Self.ownProperties)
        if case .screen(let name) = record.kind { writer.member("$screen_name", name) }
        if record.kind == .identify { writer.member("$anon_distinct_id", record.anonymousID) }
        if !record.userProperties.isEmpty || record.kind == .userProperties {
            writer.object("$set") { rules.write(record.userProperties, to: &$0) }
        } else if record.userID == nil {
            writer.member("$process_person_profile", createsAnonymousProfiles)
        }
        let context = record.context
        writer.member("$lib", LibraryName.name)
        writer.member("$lib_version", LibraryName.version)
        writer.member("$app_name", context.appName)
        writer.member("$app_version", context.appVersion)
        writer.member("$app_build", context.appBuild)
        writer.member("$os_name", context.systemName)
        writer.member("$os_version", context.systemVersion)
        writer.member("$device_model", context.deviceModel)
        writer.member("$locale", context.locale)
        writer.member("$timezone", context.timeZone)
        writer.member("$device_id", record.anonymousID)
        writer.member("$session_id", record.session?.id)
    }

    /// Reserved properties; an event's properties of the same names are omitted.
    private static let ownProperties: Set<String> = [
        "$screen_name", "$anon_distinct_id", "$set", "$process_person_profile", "$lib",
        "$lib_version", "$app_name", "$app_version", "$app_build", "$os_name", "$os_version",
        "$device_model", "$locale", "$timezone", "$device_id", "$session_id",
    ]
}
