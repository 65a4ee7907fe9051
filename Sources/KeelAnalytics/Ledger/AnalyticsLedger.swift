/// What became of the events that were accepted, for one destination.
///
/// Every event is in one place: ``isBalanced`` holds at all times, also after a crash. The counts go
/// on from one start of the app to the next.
public struct AnalyticsLedger: Sendable, Hashable {
    /// How many events were kept for the destination since it is known.
    public var accepted = 0
    /// How many arrived.
    public var delivered = 0
    /// How many wait, those held for consent included.
    public var pending = 0
    /// How many can never arrive, by the reason.
    ///
    /// The reasons are those of ``AnalyticsRejection``, and these:
    ///
    /// - `filtered`: a rule of the destination keeps them back;
    /// - `unconfirmed`: nobody knows whether they arrived, and the destination would count twice;
    /// - `damaged`, `undecodable`: the disk did not give them back as they were written.
    public var rejected: [String: Int] = [:]
    /// How many the bounds of the journal have cost: its age, its size, its number of records.
    public var expired = 0
    /// How many were removed because the user did not consent.
    public var purged = 0

    /// Creates a ledger without events.
    public init() {}

    /// How many were rejected, for whatever reason.
    public var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// How many events are accounted for.
    public var sum: Int { delivered + pending + rejectedCount + expired + purged }

    /// Whether every accepted event is accounted for, once.
    public var isBalanced: Bool { accepted == sum }
}
