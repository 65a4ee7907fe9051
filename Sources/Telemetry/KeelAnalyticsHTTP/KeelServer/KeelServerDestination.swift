import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to your own server: `keel serve`, or any server of Keel's ingest format.
///
/// The format has every field of a record, with dates as text, and the server responds for each record: accepted,
/// duplicate, or refused with a reason. `Documentation/Protocols/AnalyticsIngest.md` describes it. Effectively once:
/// the server deduplicates by the record's id.
public struct KeelServerDestination: AnalyticsDestination {
    public let name: String
    public let guarantee = DeliveryGuarantee.effectivelyOnce
    public let limits = BatchLimits(
        records: VendorLimits.KeelServer.batchEvents,
        bytes: VendorLimits.KeelServer.batchBytes - 100
    )

    private let token: AccessToken?
    private let client: VendorClient
    private let form = IngestForm()

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - host: The URL of the server; the format's path is appended.
    ///   - token: A token for the `Authorization` field, if required; never part of a description.
    ///   - connection: The connection to the server.
    ///   - name: The name within the service.
    public init(
        host: URL,
        token: String? = nil,
        connection: DestinationConnection,
        name: String = "keel"
    ) {
        self.name = name
        self.token = token.map { AccessToken($0) }
        client = VendorClient(host, connection, takesGzip: true)
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try form.bytes(of: record).count + 1
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await client.deliver(
            batch,
            as: form.bytes,
            to: "/v1/analytics/batch",
            authorization: token.map { "Bearer \($0.value)" }
        ) { forms in
            JSONWriter.object { writer in
                writer.member("version", 1)
                writer.member("sentAt", client.time.internetText)
                writer.array("records", of: forms)
            }
        } judge: { reply, prepared in
            let ids = prepared.places.map { batch[$0].id }
            guard let answer = try? reply.decode(as: Answer.self), answer.covers(ids) else {
                return .unknown(.unreadable(reply.status.code))
            }
            return .settled(rejected: answer.rejections(of: ids))
        }
    }

    private struct Answer: Decodable {
        struct Refusal: Decodable {
            let id: String
            let reason: String
            let detail: String?
        }

        let accepted: [String]
        let duplicates: [String]
        let rejected: [Refusal]

        func covers(_ ids: [String]) -> Bool {
            let known = Set(accepted).union(duplicates).union(rejected.map(\.id))
            return known.isSuperset(of: ids)
        }

        func rejections(of ids: [String]) -> [Int: AnalyticsRejection] {
            let refusals = Dictionary(rejected.map { ($0.id, $0) }) { first, _ in first }
            var rejections: [Int: AnalyticsRejection] = [:]
            for (index, id) in ids.enumerated() {
                guard let refusal = refusals[id] else { continue }
                rejections[index] = AnalyticsRejection(
                    refusal.reason,
                    refusal.detail ?? "The server refuses the event."
                )
            }
            return rejections
        }
    }

    // MARK: Format

    /// Returns a record as a JSON object in the ingest format, for exports.
    ///
    /// - Returns: The object, without a line break.
    /// - Throws: `AnalyticsRejection` for a record that the format does not allow.
    public static func json(of record: AnalyticsRecord) throws(AnalyticsRejection) -> [UInt8] {
        try IngestForm().bytes(of: record)
    }
}
