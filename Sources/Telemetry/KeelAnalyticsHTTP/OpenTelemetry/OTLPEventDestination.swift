import HTTPTypes
public import KeelAnalytics
import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends events to an OpenTelemetry collector, each as a log record with an event name.
///
/// - **At least once.** OTLP has no field for deduplication: a batch with a lost response is sent again, and can count
///   twice. The record's id is the attribute `log.record.uid`, with which a reader can deduplicate.
/// - Every status from 500 up, and 408, 421, 425 and 429, are retried, which is more than the protocol asks for: a
///   failing receiver costs no events.
///
/// Format: OTLP 1.x over HTTP with JSON (opentelemetry.io, pages “OTLP Specification”, “Logs Data
/// Model” and “Semantic conventions for events”), November 2026.
public struct OTLPEventDestination: AnalyticsDestination {
    public let name: String
    public let guarantee = DeliveryGuarantee.atLeastOnce
    public let limits = BatchLimits(
        records: VendorLimits.OpenTelemetry.batchEvents,
        bytes: VendorLimits.OpenTelemetry.batchBytes
    )

    private let authorization: AccessToken?
    private let client: VendorClient
    private let form = OTLPForm()

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - endpoint: The URL of the collector, such as `http://127.0.0.1:4318`, without `/v1/logs`.
    ///   - authorization: The `Authorization` value, if required; never part of a description.
    ///   - connection: The connection to the server.
    ///   - name: The name within the service.
    public init(
        endpoint: URL,
        authorization: String? = nil,
        connection: DestinationConnection,
        name: String = "otlp"
    ) {
        self.name = name
        self.authorization = authorization.map { AccessToken($0) }
        client = VendorClient(endpoint, connection, takesGzip: true)
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        let form = try form.event(of: record)
        // As if the record were alone: records of one context share the resource.
        return form.record.count + form.resource.count + OTLPForm.envelope
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await client.deliver(
            batch,
            as: form.event,
            to: "/v1/logs",
            authorization: authorization?.value,
            body: form.body
        ) { reply, prepared in
            let count = prepared.forms.count
            // An unreadable body is still a success, by the status.
            let lost = (try? reply.decode(as: OTLPLogsResponse.self))?.rejectedCount ?? 0
            let rejection = AnalyticsRejection(
                "refused",
                "The receiver refused \(lost) of \(count) records and did not say which; "
                    + "the first records of the batch count as refused."
            )
            return .settled(
                rejected: Dictionary(
                    uniqueKeysWithValues: (0..<min(lost, count)).map { ($0, rejection) }
                )
            )
        }
    }
}
