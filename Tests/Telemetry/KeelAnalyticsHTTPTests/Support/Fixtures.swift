import KeelAnalytics
import KeelAnalyticsHTTP
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The time in these tests: 22 November 2026, 10:00:00.123 UTC.
let now = Date(timeIntervalSince1970: 1_795_341_600.123)

extension AnalyticsRecord {
    /// A sample record, with its own id.
    static func sample(
        _ kind: Kind = .event("signed_up"),
        number: Int = 1,
        userID: String? = "user-42",
        properties: [String: AnalyticsValue] = ["plan": "pro"],
        userProperties: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord {
        var context = AnalyticsContext()
        context.appName = "Notes"
        context.appVersion = "2.1.0"
        context.appBuild = "210"
        context.systemName = "Linux"
        context.systemVersion = "12"
        context.deviceModel = "x86_64"
        context.locale = "de-CH"
        context.timeZone = "Europe/Zurich"
        return AnalyticsRecord(
            id: "019aab00-0000-7000-8000-\(number.digits(12, radix: 16))",
            kind: kind,
            time: now,
            userID: userID,
            anonymousID: "8f0c1d52-7e5b-4f0a-9a56-3a3f7a1d9c11",
            session: Session(
                id: "019aab00-0000-7000-9000-000000000000",
                start: Date(timeIntervalSince1970: 1_795_341_000)
            ),
            properties: properties,
            userProperties: userProperties,
            context: context
        )
    }

    static func samples(_ count: Int) -> [AnalyticsRecord] {
        (1...count).map { .sample(number: $0) }
    }
}

/// The vendors that have a destination.
enum Vendor: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case segment, mixpanel, amplitude, postHog, googleAnalyticsWeb, googleAnalyticsApp, keel
    case openTelemetry

    var testDescription: String { rawValue }

    /// A key, secret or token, which must not appear anywhere.
    static let secret = "k3y-0f-the-project"

    static let firebaseApp = "1:1234567890:ios:321abc"

    /// The vendor's server.
    var double: AnalyticsServerDouble {
        switch self {
        case .segment: .segment(writeKey: Self.secret)
        case .mixpanel: .mixpanel(token: Self.secret, now: { now })
        case .amplitude: .amplitude(apiKey: Self.secret)
        case .postHog: .postHog(projectKey: Self.secret)
        case .googleAnalyticsWeb:
            .googleAnalytics(stream: "G-1", apiSecret: Self.secret, now: { now })
        case .googleAnalyticsApp:
            .googleAnalytics(stream: Self.firebaseApp, apiSecret: Self.secret, now: { now })
        case .keel: .keel(token: Self.secret)
        case .openTelemetry: .openTelemetry(authorization: Self.secret)
        }
    }

    /// The destination with the correct key, or with another one.
    func destination(
        at host: URL,
        over connection: DestinationConnection,
        key: String = Vendor.secret
    ) -> any AnalyticsDestination {
        switch self {
        case .segment: return SegmentDestination(writeKey: key, connection: connection, host: host)
        case .mixpanel:
            return MixpanelDestination(projectToken: key, connection: connection, host: host)
        case .amplitude:
            return AmplitudeDestination(apiKey: key, connection: connection, host: host)
        case .postHog:
            return PostHogDestination(projectKey: key, connection: connection, host: host)
        case .googleAnalyticsWeb:
            return GoogleAnalyticsDestination(
                stream: .web(measurementID: "G-1"),
                apiSecret: key,
                connection: connection,
                host: host
            )
        case .googleAnalyticsApp:
            return GoogleAnalyticsDestination(
                stream: .app(
                    firebaseAppID: Self.firebaseApp,
                    instanceID: "0123456789abcdef0123456789abcdef"
                ),
                apiSecret: key,
                connection: connection,
                host: host
            )
        case .keel: return KeelServerDestination(host: host, token: key, connection: connection)
        case .openTelemetry:
            return OTLPEventDestination(
                endpoint: host,
                authorization: "Bearer \(key)",
                connection: connection
            )
        }
    }

    /// Whether the vendor recognizes repeated events.
    var isDeduplicating: Bool {
        switch self {
        case .googleAnalyticsWeb, .googleAnalyticsApp, .openTelemetry: false
        default: true
        }
    }

    var isGoogle: Bool { self == .googleAnalyticsWeb || self == .googleAnalyticsApp }
}

/// A vendor's server without a socket, and the destination in front of it.
struct Scene: Sendable {
    let server: AnalyticsServerDouble
    let origin: any HTTPTestOrigin
    let destination: any AnalyticsDestination

    /// Delivers records that the destination accepts one by one.
    func deliver(_ records: AnalyticsRecord...) async throws -> DeliveryOutcome {
        try await deliver(records)
    }

    func deliver(_ records: [AnalyticsRecord]) async throws -> DeliveryOutcome {
        for record in records { _ = try destination.size(of: record) }
        return await destination.deliver(records)
    }

    /// The only request's body.
    var body: String { origin.requests.first?.text ?? "" }

    /// Runs `body` with a vendor's server.
    static func run(
        _ vendor: Vendor,
        key: String = Vendor.secret,
        compressesBodies: Bool = false,
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        let server = vendor.double
        let network = InProcessHTTPNetwork()
        var connection = DestinationConnection(transport: network.transport())
        connection.now = { now }
        connection.compressesBodies = compressesBodies
        // A busy machine must not cause a timeout.
        connection.timeout = .seconds(600)
        let finished = connection
        try await network.run(HTTPTestScript { await server.answer($0) }) { origin async throws in
            let host = try #require(URL(string: "\(origin.scheme)://\(origin.authority)"))
            try await body(
                Scene(
                    server: server,
                    origin: origin,
                    destination: vendor.destination(at: host, over: finished, key: key)
                )
            )
        }
    }
}

extension DeliveryOutcome {
    /// The reasons for permanently refused records, by index.
    var reasons: [Int: String]? {
        guard case .settled(let rejected) = self else { return nil }
        return rejected.mapValues(\.reason)
    }

    /// The case, without associated values.
    var label: String {
        switch self {
        case .settled(let rejected): rejected.isEmpty ? "delivered" : "settled"
        case .tooLarge: "tooLarge"
        case .unacceptable: "unacceptable"
        case .unsent: "unsent"
        case .postponed: "postponed"
        case .unknown: "unknown"
        case .misconfigured: "misconfigured"
        }
    }
}

/// Returns the destination's reason for refusing a record; nil if it accepts.
func refusal(of record: AnalyticsRecord, by destination: any AnalyticsDestination) -> String? {
    do throws(AnalyticsRejection) {
        _ = try destination.size(of: record)
        return nil
    } catch { return error.reason }
}
