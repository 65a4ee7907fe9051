#if Logging

internal import KeelJournal

/// Counts of an exporter.
///
/// The counts of records continue across launches, and agree with the journal after a crash: with
/// ``OTLPLogExporter/pendingCount()``, they account for every record of the journal.
public struct OTLPLogStatistics: Sendable, Hashable {
    /// The number of records accepted by the collector.
    public var delivered = 0
    /// The number of records refused by the collector.
    public var rejected = 0
    /// The number of unreadable records in the journal.
    public var undecodable = 0
    /// The number of records removed by the bounds of the journal before they were shipped.
    public var lost = 0
    /// The number of requests sent since the exporter was created.
    public var requests = 0
    /// The current number of consecutive failures.
    public var failures = 0
    /// The reason for the last failure, in a few words; nil after a success.
    ///
    /// It also has the reason if the journal cannot be read after another exporter has ended.
    public var lastFailure: String?

    /// Creates counts of zero.
    public init() {}

    init(_ status: DeliveryStatus, requests: Int) {
        let unreadable = status.note.rejected[OTLPCollector.undecodable] ?? 0
        delivered = status.note.delivered
        rejected = status.note.rejected.values.reduce(0, +) - unreadable
        undecodable = unreadable + status.losses.corrupt
        lost = status.losses.lost
        self.requests = requests
        failures = status.failures
        lastFailure = status.failure?.text
    }
}

#endif
