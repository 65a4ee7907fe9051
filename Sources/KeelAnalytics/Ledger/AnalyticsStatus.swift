/// How it stands with the events of an app.
///
/// Its counters are kept in memory; ``AnalyticsService/ledgers()`` counts on the disk.
public struct AnalyticsStatus: Sendable, Hashable {
    /// What a destination is doing.
    public enum Activity: Sendable, Hashable {
        /// Nothing waits that may leave.
        case idle
        /// A request is under way.
        case delivering
        /// The last try failed; the next one comes after a pause.
        case waiting
        /// The destination takes nothing until its configuration is corrected.
        case misconfigured
    }

    /// How it stands with one destination.
    public struct Destination: Sendable, Hashable {
        /// What became of the events.
        ///
        /// ``AnalyticsLedger/pending`` follows from the other counts here. What waited when the
        /// service was opened is in it once everything has been delivered for the first time, or
        /// ``AnalyticsService/ledgers()`` was asked.
        public var ledger = AnalyticsLedger()
        /// What it is doing.
        public var activity = Activity.idle
        /// How many tries have failed since the last success.
        public var failures = 0
        /// Why the last try failed; nil after a success.
        public var problem: DeliveryProblem?

        /// Creates the status of a destination that has done nothing.
        public init() {}
    }

    /// By the names of the destinations.
    public var destinations: [String: Destination] = [:]
    /// How many calls were refused since the start, by the name of the error's code.
    ///
    /// They were never accepted, and are in no ledger.
    public var refused: [String: Int] = [:]
    /// What the user decided.
    public var consents: [ConsentPurpose: AnalyticsConsent] = [:]
    /// Whether the settings were damaged at this start: they were set aside, the anonymous id is a
    /// new one, and nothing leaves until the user decides again.
    public var hasLostSettings = false
    /// Whether the user's id looks like personal data, such as a mail address.
    ///
    /// The redactor takes such texts out of events, and not out of this id: it is sent unchanged unless
    /// the rules of a destination hash it. To avoid that, pass ``AnalyticsService/setUserID(_:)`` an id
    /// that says nothing about the person.
    public var hasPersonalUserID = false
    /// Why the settings could not be written down last; nil when they could.
    public var settingsProblem: AnalyticsError.Code?

    /// Creates a status without destinations.
    public init() {}
}
