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

/// Sends events to Mixpanel's `/import`, which accepts old events, and user properties to `/engage`.
///
/// - Events keep their names; screens become “Screen Viewed” with `screen_name`. An identification becomes `$identify`,
///   whose `$user_id` and `$device_id` are merged in projects with Simplified ID Merge (the default for new ones).
/// - A record's id is the `$insert_id`, with which Mixpanel deduplicates events with the same name, time and user.
///   Setting properties is idempotent. Both therefore take effect once, and if only a part of a batch has arrived, the
///   whole batch is repeated.
/// - Mixpanel accepts the valid events of a request and lists the refused ones.
///
/// Format: Mixpanel's pages “Import Events” and “Update Multiple Profiles”, November 2026.
public struct MixpanelDestination: AnalyticsDestination {
    /// The servers in the United States.
    public static let unitedStates = URL.literal("https://api.mixpanel.com")
    /// The servers in the European Union.
    public static let europe = URL.literal("https://api-eu.mixpanel.com")
    /// The servers in India.
    public static let india = URL.literal("https://api-in.mixpanel.com")

    public let name: String
    public let guarantee = DeliveryGuarantee.effectivelyOnce
    public let limits = BatchLimits(
        records: VendorLimits.Mixpanel.batchEvents,
        bytes: VendorLimits.Mixpanel.batchBytes - 2
    )

    private let token: AccessToken
    private let client: VendorClient
    private let form: MixpanelForm

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - projectToken: The project's token; never part of a description.
    ///   - connection: The connection to the server.
    ///   - host: The server, or a proxy in front of it.
    ///   - name: The name within the service.
    public init(
        projectToken: String,
        connection: DestinationConnection,
        host: URL = MixpanelDestination.unitedStates,
        name: String = "mixpanel"
    ) {
        self.name = name
        token = AccessToken(projectToken)
        client = VendorClient(host, connection, takesGzip: true)
        form = MixpanelForm(token: token)
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        let parts = try form.parts(of: record)
        return (parts.event.map { $0.count + 1 } ?? 0) + (parts.profile.map { $0.count + 1 } ?? 0)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let prepared = PreparedBatch(batch, form.parts)
        let withheld = DeliveryOutcome.settled(rejected: prepared.withheld)
        // Events first, since an identification precedes the user's properties.
        var outcome = withheld.combined(
            with: await importEvents(Part(prepared.forms.map(\.event), prepared.places))
        )
        let profiles = Part(prepared.forms.map(\.profile), prepared.places)
        for piece in profiles.pieces(of: VendorLimits.Mixpanel.profiles) {
            guard case .settled = outcome else { return outcome }
            outcome = outcome.combined(with: await updateProfiles(piece))
        }
        return outcome
    }

    /// The encoded records of one kind, and their indices in the batch.
    private struct Part {
        var forms: [[UInt8]] = []
        var places: [Int] = []

        init(_ forms: [[UInt8]?], _ places: [Int]) {
            for (form, place) in zip(forms, places) {
                guard let form else { continue }
                self.forms.append(form)
                self.places.append(place)
            }
        }

        var body: [UInt8] {
            JSONWriter.bytes { writer in
                writer.array { writer in
                    for form in forms { writer.raw(form) }
                }
            }
        }

        func pieces(of count: Int) -> [Part] {
            stride(from: 0, to: forms.count, by: count).map { start in
                let range = start..<min(start + count, forms.count)
                return Part(Array(forms[range]), Array(places[range]))
            }
        }
    }

    // MARK: Sending

    private func importEvents(_ part: Part) async -> DeliveryOutcome {
        guard !part.forms.isEmpty else { return .delivered }
        let answer = await client.post(
            part.body,
            to: "/import",
            query: ["strict": "1"],
            authorization: BasicCredentials(user: token.value, password: "")?.authorization
        )
        switch answer {
        case .outcome(let outcome):
            return outcome
        case .reply(let reply):
            if reply.status.kind == .successful { return .delivered }
            guard reply.status.code == 400, let answer = try? reply.decode(as: Answer.self),
                let failed = answer.failedRecords, !failed.isEmpty
            else { return DeliveryOutcome(refusal: reply) }
            return settled(failed, of: part)
        }
    }

    private func updateProfiles(_ part: Part) async -> DeliveryOutcome {
        let answer = await client.post(
            part.body,
            to: "/engage",
            query: ["ip": "0", "strict": "1", "verbose": "1"]
        )
        switch answer {
        case .outcome(let outcome):
            return outcome
        case .reply(let reply):
            let answer = try? reply.decode(as: Answer.self)
            if let failed = answer?.failedRecords, !failed.isEmpty,
                reply.status.code == 400 || reply.status.kind == .successful
            {
                return settled(failed, of: part)
            }
            guard reply.status.kind == .successful else { return DeliveryOutcome(refusal: reply) }
            // With status 200, only the body tells success from failure.
            guard let answer else { return .unknown(.unreadable(reply.status.code)) }
            guard answer.isRefusal else { return .delivered }
            return .unacceptable(
                AnalyticsRejection("refused", "Mixpanel refuses a profile update.")
            )
        }
    }

    private func settled(_ failed: [Answer.Record], of part: Part) -> DeliveryOutcome {
        let rejected = failed.map { record in
            let field = record.field.map { " because of '\($0)'" } ?? ""
            return (
                record.index, AnalyticsRejection("refused", "Mixpanel refuses the record\(field).")
            )
        }
        return .settled(rejected: Dictionary(rejected) { first, _ in first })
            .placed(at: part.places, withheld: [:])
    }

    private struct Answer: Decodable {
        struct Record: Decodable {
            let index: Int
            let field: String?
        }

        let failedRecords: [Record]?
        /// 1 for success, 0 for a refusal; `/import` has a text instead.
        let isRefusal: Bool

        enum CodingKeys: String, CodingKey {
            case failedRecords = "failed_records"
            case status
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            failedRecords = try container.decodeIfPresent([Record].self, forKey: .failedRecords)
            isRefusal = (try? container.decodeIfPresent(Int.self, forKey: .status)) == 0
        }
    }
}
