/// The status of an analytics service.
///
/// Its counters are kept in memory; ``AnalyticsService/ledgers()`` counts on disk.
public struct AnalyticsStatus: Sendable, Hashable {
    /// The current activity of a destination.
    public enum Activity: Sendable, Hashable {
        /// No request is in flight, and the last attempt did not fail.
        case idle
        /// A request is in flight.
        case delivering
        /// The last attempt failed; the next one follows after a delay.
        case waiting
        /// The destination accepts nothing until its configuration is corrected.
        case misconfigured
    }

    /// The status of one destination.
    public struct Destination: Sendable, Hashable {
        /// The fate of the events.
        ///
        /// Here ``AnalyticsLedger/pending`` is derived from the other counts. It includes the events from before the
        /// service was opened only after everything was delivered once, or after a call of
        /// ``AnalyticsService/ledgers()``.
        public var ledger = AnalyticsLedger()
        /// The current activity.
        public var activity = Activity.idle
        /// The number of consecutive failures.
        public var failures = 0
        /// The reason for the last failure; nil after a success.
        public var problem: DeliveryProblem?

        /// Creates the status of an idle destination.
        public init() {}
    }

    /// The status of each destination, by name.
    public var destinations: [String: Destination] = [:]
    /// The number of refused calls since the launch, by the name of the error's code.
    ///
    /// Refused events are not in any ledger.
    public var refused: [String: Int] = [:]
    /// The user's decisions.
    public var consents: [ConsentPurpose: AnalyticsConsent] = [:]
    /// Whether the settings were corrupt at launch.
    ///
    /// They were set aside, the anonymous id is new, and nothing is sent until the user decides again.
    public var hasLostSettings = false
    /// Whether the user's id looks like personal data, such as a mail address.
    ///
    /// The redactor does not apply to the id; see ``AnalyticsService/setUserID(_:)``.
    public var hasPersonalUserID = false
    /// The reason why the settings could not be stored or changed; nil if the last attempt succeeded.
    public var settingsProblem: AnalyticsError.Code?
    /// The reason why the service cannot deliver after another service has ended; nil if it delivers, or waits for the
    /// other service.
    public var deliveryProblem: AnalyticsError.Code?
    /// The reason why events of a denied purpose could not be removed from disk; nil if no such events are left.
    ///
    /// They are not sent. The next launch, or another call of ``AnalyticsService/denyConsent(for:)``, removes them.
    public var removalProblem: AnalyticsError.Code?

    /// Creates a status without destinations.
    public init() {}
}
