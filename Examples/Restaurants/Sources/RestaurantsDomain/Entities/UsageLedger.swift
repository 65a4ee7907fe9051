/// The state of the app's usage data.
public struct UsageLedger: Hashable, Sendable {
    /// The number of recorded events.
    public let noted: Int
    /// The number of delivered events.
    public let delivered: Int
    /// The number of events that wait on this device, for consent or a connection.
    public let waiting: Int
    /// The number of events that were removed, refused or too old.
    public let dropped: Int

    /// Creates a ledger.
    public init(noted: Int, delivered: Int, waiting: Int, dropped: Int) {
        self.noted = noted
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
    }

    /// Whether every recorded event is accounted for.
    public var isBalanced: Bool { noted == delivered + waiting + dropped }
}
