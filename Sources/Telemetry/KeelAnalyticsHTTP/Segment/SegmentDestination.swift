import HTTPTypes
public import KeelAnalytics
import KeelCore
internal import KeelHTTP
internal import KeelHTTPAuthentication

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to Segment, or to any server of its HTTP Tracking API.
///
/// - Events become `track`, screens `screen`; identifications and changed user properties become
///   `identify` with traits.
/// - A record's id is the `messageId`, with which Segment deduplicates for at least a day (99 % of events, according to
///   Segment): effectively once.
/// - Segment responds with 200 even if it drops an event, so its rules are checked before sending:
///   an event has a name and at most 32 KiB.
///
/// Format: Segment's pages “HTTP API Source” and “Spec: Common Fields”, November 2026.
public struct SegmentDestination: AnalyticsDestination {
    /// The servers in the United States.
    public static let unitedStates = URL.literal("https://api.segment.io")
    /// The servers in Dublin, for workspaces in the European Union.
    public static let europe = URL.literal("https://events.eu1.segmentapis.com")

    public let name: String
    public let guarantee = DeliveryGuarantee.effectivelyOnce
    public let limits = BatchLimits(
        records: VendorLimits.Segment.batchEvents,
        bytes: VendorLimits.Segment.batchBytes
    )

    private let key: AccessToken
    private let client: VendorClient
    private let rules = ValueRules.lenient

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - writeKey: The write key of the source; never part of a description.
    ///   - connection: The connection to the server.
    ///   - host: The server, or a proxy in front of it.
    ///   - name: The name within the service.
    public init(
        writeKey: String,
        connection: DestinationConnection,
        host: URL = SegmentDestination.unitedStates,
        name: String = "segment"
    ) {
        self.name = name
        key = AccessToken(writeKey)
        client = VendorClient(host, connection, takesGzip: true)
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try form(of: record).count + 1
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await client.deliver(
            batch,
            as: form,
            to: "/v1/batch",
            authorization: BasicCredentials(user: key.value, password: "")?.authorization
        ) { forms in
            JSONWriter.object { writer in
                writer.array("batch", of: forms)
                writer.member("sentAt", client.time.internetText)
            }
        } judge: { _, _ in
            // The body adds nothing to the status.
            .delivered
        }
    }

    // MARK: Format

    private func form(of record: AnalyticsRecord) throws(AnalyticsRejection) -> [UInt8] {
        try record.check(by: rules)
        let bytes = JSONWriter.object { writer in write(record, to: &writer) }
        return try bytes.atMost(VendorLimits.Segment.eventBytes)
    }

    private func write(_ record: AnalyticsRecord, to writer: inout JSONWriter) {
        switch record.kind {
        case .event(let name):
            writer.member("type", "track")
            writer.member("event", name)
            writer.object("properties") { rules.write(record.properties, to: &$0) }
        case .screen(let name):
            writer.member("type", "screen")
            writer.member("name", name)
            writer.object("properties") { rules.write(record.properties, to: &$0) }
        case .identify, .userProperties:
            writer.member("type", "identify")
            writer.object("traits") { rules.write(record.userProperties, to: &$0) }
        }
        writer.member("messageId", record.id)
        writer.member("timestamp", record.time.internetText)
        writer.member("userId", record.userID)
        writer.member("anonymousId", record.anonymousID)
        writer.object("context") { write(record.context, record.session, to: &$0) }
        writer.object("integrations") { _ in }
    }

    private func write(
        _ context: AnalyticsContext,
        _ session: AnalyticsRecord.Session?,
        to writer: inout JSONWriter
    ) {
        writer.object("library") { writer in
            writer.member("name", LibraryName.name)
            writer.member("version", LibraryName.version)
        }
        writer.object("app") { writer in
            writer.member("name", context.appName)
            writer.member("version", context.appVersion)
            writer.member("build", context.appBuild)
        }
        writer.object("os") { writer in
            writer.member("name", context.systemName)
            writer.member("version", context.systemVersion)
        }
        writer.object("device") { $0.member("model", context.deviceModel) }
        writer.member("locale", context.locale)
        writer.member("timezone", context.timeZone)
        // Segment has no session fields; its destinations can map these two.
        writer.member("sessionId", session?.id)
        writer.member("sessionStart", session?.start.internetText)
    }
}
