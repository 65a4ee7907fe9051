/// What became of what the app has noted about its use.
public struct UsageLedger: Hashable, Sendable {
    /// How much was noted.
    public let noted: Int
    /// How much has reached whoever reads it.
    public let delivered: Int
    /// How much waits on this device, for consent or for a connection.
    public let waiting: Int
    /// How much was removed, refused or became too old.
    public let dropped: Int

    /// Creates a ledger.
    public init(noted: Int, delivered: Int, waiting: Int, dropped: Int) {
        self.noted = noted
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
    }

    /// Whether all that was noted is in one place.
    public var isBalanced: Bool { noted == delivered + waiting + dropped }
}
