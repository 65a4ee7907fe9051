import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends to Google Analytics 4 over its Measurement Protocol, for a web or an app stream.
///
/// **At most once.** Google gives no field by which a repetition could be recognised and no answer
/// that says whether an event was taken: a batch whose answer was lost is not sent again, and an
/// event that breaks a rule would be dropped without a word. So every rule is checked here before
/// sending, and a record that breaks one is refused with its reason.
///
/// - Events keep their names: 1 to 40 letters, digits and underscores, beginning with a letter, none
///   of Google's own. Screens become `screen_view`, users who become known `identify` and changed
///   properties of users `set_user_properties`, both events of your own in the reports.
/// - A request has one user, and changed properties stand alone: of a batch of several users nothing
///   is sent, and the delivery hands over the first user's events next.
/// - Records older than 72 hours are refused: Google drops them.
///
/// Format: Google's pages “Measurement Protocol reference”, “Sending events” and “Event collection
/// limits”, November 2026.
public struct GoogleAnalyticsDestination: AnalyticsDestination {
    /// Where an event is counted, and as whose.
    public enum Stream: Sendable, Hashable {
        /// A web stream, `G-…`: the anonymous identifier is the `client_id`. The only choice on
        /// Linux.
        case web(measurementID: String)
        /// An app stream. `instanceID` is what the Firebase SDK gave this installation: 32
        /// hexadecimal digits. Google takes no others.
        case app(firebaseAppID: String, instanceID: String)
    }

    /// The user's choice about advertising, sent as `consent` of a request.
    ///
    /// A request omits `unknown` choices; Google then uses those that its own tags know.
    public struct AdConsent: Sendable, Hashable {
        /// Whether Google may use what is sent for advertising: `ad_user_data`.
        public var userData: AnalyticsConsent
        /// Whether Google may show advertising made for the user: `ad_personalization`.
        public var personalization: AnalyticsConsent

        /// Creates an answer of the user's to both questions.
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
        // What stands around the events, at the most: identifiers, and properties of a user.
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
    ///   - stream: Where events are counted.
    ///   - apiSecret: A secret of the stream for the Measurement Protocol. Google wants it in the
    ///     query; it is never part of a description.
    ///   - connection: How the server is reached.
    ///   - host: The server, or a proxy in front of it.
    ///   - name: The name within the service.
    ///   - adConsent: Returns the user's choice about advertising; called before each request.
    ///     The service's consent decides whether events are sent at all.
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
        // One request speaks of one user, and one request is all that can be sent at most once.
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
                // A gateway may say this although the events were counted.
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
        JSONWriter.bytes { writer in
            writer.object { writer in
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
                writer.array("events") { writer in
                    for event in events { writer.raw(event) }
                }
            }
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
