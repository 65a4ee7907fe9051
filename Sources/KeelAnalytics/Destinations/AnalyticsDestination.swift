/// Where events go: a vendor, a server of one's own, a log.
///
/// A destination is given batches of records and says what became of each. It does not keep, repeat
/// or wait: the journal keeps, and the delivery repeats, splits and waits as the outcome says. It is
/// never called for two batches with a record in common at the same time.
public protocol AnalyticsDestination: Sendable {
    /// A name of 1 to 32 letters, digits, “-” and “_”, unique within a service and stable across
    /// versions of the app: how far the destination has read is kept under it.
    var name: String { get }

    /// What a repeated delivery does there.
    var guarantee: DeliveryGuarantee { get }

    /// How large a batch may be.
    var limits: BatchLimits { get }

    /// The number of bytes that a record takes in a batch, or why it can never be delivered.
    ///
    /// It is asked before a batch is put together, so that one record that breaks the vendor's rules
    /// does not spoil a batch.
    ///
    /// - Parameter record: A record.
    /// - Returns: The bytes of its form in the body of a request, separators included.
    /// - Throws: ``AnalyticsRejection``.
    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int

    /// Delivers a batch, within ``limits`` and of records that ``size(of:)`` accepted.
    ///
    /// - Parameter batch: One record or more.
    /// - Returns: What became of it.
    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome
}

/// What a repeated delivery does at a destination.
public enum DeliveryGuarantee: Sendable, Hashable {
    /// It is recognised by the record's id, so each record counts once.
    case effectivelyOnce
    /// It may count twice: the destination has no field to recognise it by.
    case atLeastOnce
    /// Nothing is repeated: a record whose fate is unknown is not sent again, and may be lost.
    case atMostOnce
}

/// How large a batch for a destination may be.
public struct BatchLimits: Sendable, Hashable {
    /// The most records.
    public var records: Int
    /// The most bytes of all records together, as ``AnalyticsDestination/size(of:)`` tells them.
    public var bytes: Int

    /// Creates limits.
    public init(records: Int, bytes: Int) {
        self.records = records
        self.bytes = bytes
    }
}
