import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to Google Analytics 4 over its Measurement Protocol, for a web or an app stream.
///
/// **At most once.** Google offers no field for deduplication and no response that says whether an event was accepted:
/// a batch with a lost response is not sent again. Google drops invalid events silently, so all rules are checked
/// before sending, and an invalid record is refused with a reason.
///
/// - Event names are kept: 1 to 40 letters, digits and underscores, starting with a letter, and not
///   reserved by Google. Screens become `screen_view`, identifications `identify` and changed user
///   properties `set_user_properties`; the last two are custom events in the reports.
/// - A request has one user, and changed user properties need a separate request: of a mixed batch, nothing is sent,
///   and the delivery continues with the first user's events.
/// - Records older than 72 hours are refused, as Google drops them.
///
/// Format: Google's pages “Measurement Protocol reference”, “Sending events” and “Event collection
/// limits”, November 2026.
public struct GoogleAnalyticsDestination: AnalyticsDestination {
    /// The stream that events are counted in, and the identity of the sender.
    public enum Stream: Sendable, Hashable {
        /// A web stream, `G-…`, with the anonymous id as the `client_id`; the only choice on Linux.
        case web(measurementID: String)
        /// An app stream. `instanceID` is the id that the Firebase SDK assigned to this
        /// installation, 32 hexadecimal digits; Google accepts no others.
        case app(firebaseAppID: String, instanceID: String)
    }

    /// The user's consent to advertising, sent as `consent` of a request.
    ///
    /// Requests omit `unknown` values; Google then uses those known to its own tags.
    public struct AdConsent: Sendable, Hashable {
        /// Whether Google may use the data for advertising: `ad_user_data`.
        public var userData: AnalyticsConsent
        /// Whether Google may show personalized advertising: `ad_personalization`.
        public var personalization: AnalyticsConsent

        /// Creates the user's consent to both uses.
        public init(
            userData: AnalyticsConsent = .unknown,
            personalization: AnalyticsConsent = .unknown
        ) {
            self.userData = userData
            self.personalization = personalization
        }
    }

    /// The servers nearest to the sender.
    public static let global = URL.literal("https://www.google-analytics.com")
    /// The servers in the European Union.
    public static let europe = URL.literal("https://region1.google-analytics.com")

    public let name: String
    public let guarantee = DeliveryGuarantee.atMostOnce
    public let limits = BatchLimits(
        records: VendorLimits.GoogleAnalytics.batchEvents,
        // The maximum of the rest of the body: ids and user properties.
        bytes: VendorLimits.GoogleAnalytics.batchBytes - 16_000
    )

    private let stream: Stream
    private let secret: AccessToken
    private let adConsent: @Sendable () -> AdConsent
    private let client: VendorClient
    private let form = GoogleAnalyticsForm()

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - stream: The stream that events are counted in.
    ///   - apiSecret: A Measurement Protocol secret of the stream. Google requires it in the query;
    ///     it is never part of a description.
    ///   - connection: The connection to the server.
    ///   - host: The server, or a proxy in front of it.
    ///   - name: The name within the service.
    ///   - adConsent: Returns the user's consent to advertising before each request. Whether events
    ///     are sent at all depends on the service's consent.
    public init(
        stream: Stream,
        apiSecret: String,
        connection: DestinationConnection,
        host: URL = GoogleAnalyticsDestination.global,
        name: String = "google-analytics",
        adConsent: @escaping @Sendable () -> AdConsent = { AdConsent() }
    ) {
        self.name = name
        self.stream = stream
        self.adConsent = adConsent
        secret = AccessToken(apiSecret)
        client = VendorClient(host, connection, takesGzip: false)
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        let size = try form.event(of: record, now: client.time).bytes.count + 1
        guard size <= limits.bytes else { throw .tooLarge(size, limit: limits.bytes) }
        return size
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let now = client.time
        let prepared = PreparedBatch(batch) { record throws(AnalyticsRejection) in
            try form.event(of: record, now: now)
        }
        guard let first = prepared.forms.first else {
            return .settled(rejected: prepared.withheld)
        }
        // A request has one user, and with at most once delivery a batch is one request.
        if let other = prepared.forms.dropFirst().firstIndex(where: { !$0.shares(with: first) }) {
            return .unsent(fitting: prepared.places[other])
        }
        let answer = await client.post(
            body(of: prepared.forms.map(\.bytes), about: first),
            to: "/mp/collect",
            query: query
        )
        switch answer {
        case .outcome(let outcome):
            return outcome
        case .reply(let reply):
            let outcome: DeliveryOutcome =
                switch reply.status.code {
                case 200..<300: .delivered
                // A gateway may respond like this although the events were counted.
                case 408, 500...: .unknown(.status(reply.status.code))
                default: DeliveryOutcome(refusal: reply)
                }
            return outcome.placed(at: prepared.places, withheld: prepared.withheld)
        }
    }

    private var query: HTTPQuery {
        let place =
            switch stream {
            case .web(let measurementID):
                HTTPQuery.Item(name: "measurement_id", value: measurementID)
            case .app(let firebaseAppID, _):
                HTTPQuery.Item(name: "firebase_app_id", value: firebaseAppID)
            }
        return HTTPQuery([place, HTTPQuery.Item(name: "api_secret", value: secret.value)])
    }

    private func body(of events: [[UInt8]], about subject: GoogleAnalyticsEvent) -> [UInt8] {
        JSONWriter.object { writer in
            switch stream {
            case .web: writer.member("client_id", subject.anonymousID)
            case .app(_, let instanceID): writer.member("app_instance_id", instanceID)
            }
            writer.member("user_id", subject.userID)
            write(adConsent(), to: &writer)
            if let properties = subject.userProperties {
                writer.key("user_properties")
                writer.raw(properties)
            }
            writer.array("events", of: events)
        }
    }

    private func write(_ consent: AdConsent, to writer: inout JSONWriter) {
        guard consent != AdConsent() else { return }
        writer.object("consent") { writer in
            writer.member("ad_user_data", consent.userData.googleName)
            writer.member("ad_personalization", consent.personalization.googleName)
        }
    }
}

extension AnalyticsConsent {
    fileprivate var googleName: String? {
        switch self {
        case .unknown: nil
        case .granted: "GRANTED"
        case .denied: "DENIED"
        }
    }
}
