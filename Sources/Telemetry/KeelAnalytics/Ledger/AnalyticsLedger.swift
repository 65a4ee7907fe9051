/// The fate of the accepted events, for one destination.
///
/// Every event is in exactly one count, even after a crash. The counts continue across launches.
public struct AnalyticsLedger: Sendable, Hashable {
    /// The number of events stored for the destination since it was first seen.
    public var accepted = 0
    /// The number of events that arrived.
    public var delivered = 0
    /// The number of events that wait, including those held for consent.
    public var pending = 0
    /// The number of events that can never arrive, by reason.
    ///
    /// The reasons are those of ``AnalyticsRejection``, and these:
    ///
    /// - `filtered`: removed by a rule of the destination;
    /// - `tooLarge`: larger than a batch of the destination;
    /// - `unsendable`: no request fits it;
    /// - `unconfirmed`: possibly delivered, to a destination with ``DeliveryGuarantee/atMostOnce``;
    /// - `damaged`, `undecodable`: corrupt on disk, or its key was destroyed;
    /// - `other`: reasons beyond the first 32, or with names of more than 40 bytes.
    public var rejected: [String: Int] = [:]
    /// The number of events removed by the journal's bounds on age, size or number of records before they arrived.
    public var expired = 0
    /// The number of events removed because the user did not consent.
    public var purged = 0

    /// Creates an empty ledger.
    public init() {}

    /// The number of events rejected for any reason.
    public var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// The sum of all counts but ``accepted``.
    public var sum: Int { delivered + pending + rejectedCount + expired + purged }

    /// Whether every accepted event is accounted for, once.
    public var isBalanced: Bool { accepted == sum }
}
