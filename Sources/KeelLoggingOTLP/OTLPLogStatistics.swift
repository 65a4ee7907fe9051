#if Logging

/// What has happened to an exporter since it was made.
public struct OTLPLogStatistics: Sendable, Hashable {
    /// How many records the collector has taken.
    public var delivered = 0
    /// How many records the collector has refused for good.
    public var rejected = 0
    /// How many records of the journal could not be read.
    public var undecodable = 0
    /// How many records were lost to the bounds of the journal before they were shipped.
    public var lost = 0
    /// How many requests were sent.
    public var requests = 0
    /// How many tries in a row have failed by now.
    public var failures = 0
    /// Why the last try failed, in a few words; nil after a success.
    public var lastFailure: String?

    /// Creates counts of nothing.
    public init() {}
}

#endif
