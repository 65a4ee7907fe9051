#if Logging

/// Counts of an exporter since it was created.
public struct OTLPLogStatistics: Sendable, Hashable {
    /// The number of records accepted by the collector.
    public var delivered = 0
    /// The number of records refused by the collector.
    public var rejected = 0
    /// The number of unreadable records in the journal.
    public var undecodable = 0
    /// The number of records removed by the bounds of the journal before they were shipped.
    public var lost = 0
    /// The number of requests sent.
    public var requests = 0
    /// The current number of consecutive failures.
    public var failures = 0
    /// The reason for the last failure, in a few words; nil after a success.
    public var lastFailure: String?

    /// Creates counts of zero.
    public init() {}
}

#endif
