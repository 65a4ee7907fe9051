import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to Amplitude.
///
/// - Events keep their names; screens become `[Amplitude] Screen Viewed`, identifications and
///   changed user properties `$identify`. The anonymous id is the `device_id`.
/// - A record's id is the `insert_id`, with which Amplitude deduplicates for seven days: effectively once.
/// - If Amplitude refuses some events of a request, it accepts none but lists the refused ones: the others are sent
///   again immediately, in at most four requests per delivery.
///
/// Format: Amplitude's page “HTTP V2 API”, November 2026.
public struct AmplitudeDestination: AnalyticsDestination {
    /// The servers in the United States.
    public static let unitedStates = URL.literal("https://api2.amplitude.com")
    /// The servers in Frankfurt.
    public static let europe = URL.literal("https://api.eu.amplitude.com")

    public let name: String
    public let guarantee = DeliveryGuarantee.effectivelyOnce
    public let limits: BatchLimits

    private let key: AccessToken
    private let client: VendorClient
    private let form: AmplitudeForm

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - apiKey: The project's API key; never part of a description.
    ///   - connection: The connection to the server.
    ///   - host: The server, or a proxy in front of it.
    ///   - minimumIDLength: The minimum length of user and device ids in characters, at least 1. Records with shorter
    ///     ids are refused.
    ///   - name: The name within the service.
    public init(
        apiKey: String,
        connection: DestinationConnection,
        host: URL = AmplitudeDestination.unitedStates,
        minimumIDLength: Int = 5,
        name: String = "amplitude"
    ) {
        self.name = name
        key = AccessToken(apiKey)
        client = VendorClient(host, connection, takesGzip: false)
        form = AmplitudeForm(minimumIDLength: max(1, minimumIDLength))
        limits = BatchLimits(
            records: VendorLimits.Amplitude.batchEvents - 1,
            // The rest of the body: names, options, and the key with every character escaped.
            bytes: VendorLimits.Amplitude.batchBytes - 200 - 6 * apiKey.utf8.count
        )
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        let size = try form.event(of: record).bytes.count + 1
        guard size <= limits.bytes else { throw .tooLarge(size, limit: limits.bytes) }
        return size
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        var prepared = PreparedBatch(batch, form.event)
        // Each round removes at least one event; after a few rounds it does not help.
        for _ in 0..<4 {
            guard !prepared.forms.isEmpty else { break }
            switch await send(prepared.forms) {
            case .final(let outcome):
                return outcome.placed(at: prepared.places, withheld: prepared.withheld)
            case .without(let rejected):
                prepared.withhold(rejected)
            }
        }
        guard prepared.forms.isEmpty else {
            return .unacceptable(
                AnalyticsRejection("refused", "Amplitude keeps refusing single events.")
            )
        }
        return .settled(rejected: prepared.withheld)
    }

    // MARK: Sending

    private enum Round {
        /// The outcome is final for this delivery.
        case final(DeliveryOutcome)
        /// Nothing was accepted because of these events.
        case without([Int: AnalyticsRejection])
    }

    private func send(_ events: [AmplitudeEvent]) async -> Round {
        let body = JSONWriter.object { writer in
            writer.member("api_key", key.value)
            writer.array("events", of: events.map(\.bytes))
            if form.minimumIDLength != VendorLimits.Amplitude.minimumIDLength {
                writer.object("options") { writer in
                    writer.member("min_id_length", Int64(form.minimumIDLength))
                }
            }
        }
        switch await client.post(body, to: "/2/httpapi") {
        case .outcome(let outcome): return .final(outcome)
        case .reply(let reply): return judge(reply, of: events)
        }
    }

    private func judge(_ reply: NetworkResponse, of events: [AmplitudeEvent]) -> Round {
        let status = reply.status.code
        guard reply.status.kind != .successful else { return .final(.delivered) }
        let answer = try? reply.decode(as: AmplitudeAnswer.self)
        switch status {
        case 400:
            guard let answer else { break }
            if answer.blamesKey {
                return .final(
                    .misconfigured(
                        DeliveryProblem("Amplitude does not know the API key.", status: status)
                    )
                )
            }
            let rejected = answer.rejections.filter { events.indices.contains($0.key) }
            if !rejected.isEmpty { return .without(rejected) }
        case 429:
            let overQuota = answer?.overDailyQuota(events) ?? []
            if !overQuota.isEmpty {
                let rejection = AnalyticsRejection(
                    "quotaExceeded",
                    "The device or user has exceeded Amplitude's daily quota."
                )
                return .without(
                    Dictionary(overQuota.map { ($0, rejection) }) { first, _ in first }
                )
            }
            let pause = reply.head.retryAfter ?? VendorLimits.Amplitude.throttlePause
            return .final(.postponed(.status(status), notBefore: pause))
        default:
            break
        }
        return .final(DeliveryOutcome(refusal: reply))
    }
}
