/// A receiver of events: a vendor, your own server, a log.
///
/// A destination receives batches of records and reports the outcome of each. The journal stores; the delivery retries,
/// splits and waits according to the outcome. A destination never receives two batches with a common record
/// concurrently.
public protocol AnalyticsDestination: Sendable {
    /// A name of 1 to 32 letters, digits, “-” and “_”, but not “journal”. It is unique within a service, regardless of
    /// case, and stable across versions of the app: the destination's progress is stored under it.
    var name: String { get }

    /// The effect of a repeated delivery.
    var guarantee: DeliveryGuarantee { get }

    /// The maximum size of a batch.
    var limits: BatchLimits { get }

    /// Returns the size of a record in a batch in bytes, or throws if it can never be delivered.
    ///
    /// - Returns: The size of its encoding in the request body, separators included.
    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int

    /// Delivers a batch of one or more records that ``size(of:)`` accepted, within ``limits``.
    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome
}

/// The effect of a repeated delivery at a destination.
public enum DeliveryGuarantee: Sendable, Hashable {
    /// Records are deduplicated by id, so each counts once.
    case effectivelyOnce
    /// A record can count twice: the destination cannot deduplicate.
    case atLeastOnce
    /// Records are never repeated: a record with an unknown outcome can be lost.
    case atMostOnce
}

/// The maximum size of a batch for a destination.
public struct BatchLimits: Sendable, Hashable {
    /// The maximum number of records.
    public var records: Int
    /// The maximum total of ``AnalyticsDestination/size(of:)``.
    public var bytes: Int

    /// Creates limits.
    public init(records: Int, bytes: Int) {
        self.records = records
        self.bytes = bytes
    }
}
