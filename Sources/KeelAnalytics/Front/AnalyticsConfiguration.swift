public import KeelCore
public import KeelJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an analytics service does with events, and where they go.
///
/// ```swift
/// var configuration = AnalyticsConfiguration()
/// configuration.add(PostHogDestination(projectKey: key, connection: connection))
/// configuration.context.appVersion = "2.1.0"
/// let analytics = try AnalyticsService(at: folder, configuration: configuration)
/// ```
public struct AnalyticsConfiguration: Sendable {
    /// A destination, with what concerns it alone.
    public struct Entry: Sendable {
        /// Where events go.
        public var destination: any AnalyticsDestination
        /// What it gets of them.
        public var rules: DestinationRules
        /// Where it begins when the service sees its name for the first time.
        public var start: JournalConsumer.Start
    }

    /// Where events go; each name once.
    public private(set) var destinations: [Entry] = []
    /// The bounds of the journal, its durability and what encrypts it.
    ///
    /// Its clock is ``now``.
    public var journal = JournalConfiguration()
    /// What counts for a purpose about which the user has not decided.
    ///
    /// By default events wait on the device.
    public var defaultConsent = AnalyticsConsent.unknown
    /// The pause after which another session begins; nil tracks no sessions.
    public var sessionTimeout: Duration? = .seconds(30 * 60)
    /// Removes secrets and personal data from properties, their names and the names of events and
    /// screens before they are stored; nil stores everything.
    ///
    /// The user's id is kept as it is: choose one that says nothing about the user, and no address.
    public var redactor: Redactor? = .standard
    /// Whether events and screens carry the properties of the user as well.
    ///
    /// They are then remembered across starts, until ``AnalyticsService/reset()``. It is off, because
    /// destinations keep the properties of a user by themselves, and some take each event with
    /// properties of the user for a change of them: Mixpanel gets a second record for each.
    public var attachesUserProperties = false
    /// Is told what is tracked, refused and delivered, for logs; it must return at once.
    public var observer: (@Sendable (AnalyticsObservation) -> Void)?
    /// The app, the system and the language.
    public var context = AnalyticsContext.current

    /// How long events gather before a batch is sent.
    public var deliveryInterval = Duration.seconds(15)
    /// How many gathered events are reason enough to send earlier; at least 1.
    public var deliveryThreshold = 100
    /// The pauses between failed tries of a destination.
    ///
    /// Attempts and the total limit are passed over: events are repeated until the journal's bounds
    /// are reached.
    ///
    /// A pause is at least a tenth of what the policy allows. Once pauses have grown to the longest,
    /// each is the longest and a random part of it more, so that a destination which is down for
    /// long sees at most one try in that time.
    public var retry = RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(300))
    /// The pause after a destination has said that its configuration is wrong.
    public var misconfiguredPause = Duration.seconds(3600)

    /// What measures pauses and durations.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The time, in microseconds since 1970.
    public var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }
    /// Draws the random bits of ids and pauses.
    public var random: @Sendable () -> UInt64 = { RandomWords.shared.next() }

    /// Creates a configuration without destinations.
    public init() {}

    /// Adds a destination.
    ///
    /// - Parameters:
    ///   - destination: Where events go.
    ///   - rules: What it gets of them.
    ///   - start: Where it begins when the service sees its name for the first time: with all that
    ///     waits on the device for others, or with the next event.
    public mutating func add(
        _ destination: some AnalyticsDestination,
        rules: DestinationRules = DestinationRules(),
        startingAt start: JournalConsumer.Start = .oldest
    ) {
        destinations.append(Entry(destination: destination, rules: rules, start: start))
    }

    /// The destinations, each of which tells the observer of its deliveries.
    var observedDestinations: [Entry] {
        guard let observer else { return destinations }
        return destinations.map { entry in
            var entry = entry
            entry.destination = Self.observed(entry.destination, on: clock, by: observer)
            return entry
        }
    }

    private static func observed(
        _ destination: some AnalyticsDestination,
        on clock: any Clock<Duration>,
        by observer: @escaping @Sendable (AnalyticsObservation) -> Void
    ) -> any AnalyticsDestination {
        destination.observed(clock: clock) { observer(.delivered($0)) }
    }

    /// Whether an id has a form that the redactor takes out of events.
    func isPersonal(_ userID: String?) -> Bool {
        guard let userID, let redactor else { return false }
        return redactor.redact(userID) != userID
    }

    func check() throws(AnalyticsError) {
        let names = destinations.map(\.destination.name)
        guard Set(names).count == names.count else {
            throw AnalyticsError(.invalidArgument, "Two destinations have the same name")
        }
        for entry in destinations {
            let (destination, rules) = (entry.destination, entry.rules)
            guard (1...32).contains(destination.name.utf8.count) else {
                throw AnalyticsError(
                    .invalidArgument,
                    "A destination's name has 1 to 32 letters, digits, “-” and “_”"
                )
            }
            guard destination.limits.records >= 1, destination.limits.bytes >= 1 else {
                throw AnalyticsError(
                    .invalidArgument,
                    "The limits of “\(destination.name)” allow no batch"
                )
            }
            guard rules.hashing != nil || !rules.hashesAnything else {
                throw AnalyticsError(
                    .invalidArgument,
                    "The rules of “\(destination.name)” hash properties: give them a key"
                )
            }
        }
        guard deliveryThreshold >= 1, deliveryInterval >= .zero, misconfiguredPause >= .zero else {
            throw AnalyticsError(
                .invalidArgument,
                "deliveryThreshold is at least 1, and intervals are not negative"
            )
        }
    }
}
