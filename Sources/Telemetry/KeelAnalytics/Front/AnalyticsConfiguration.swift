public import KeelCore
public import KeelJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The behavior and destinations of an analytics service.
///
/// ```swift
/// var configuration = AnalyticsConfiguration()
/// configuration.add(PostHogDestination(projectKey: key, connection: connection))
/// configuration.context.appVersion = "2.1.0"
/// let analytics = try AnalyticsService(at: folder, configuration: configuration)
/// ```
public struct AnalyticsConfiguration: Sendable {
    /// A destination with its settings.
    public struct Entry: Sendable {
        /// The destination.
        public var destination: any AnalyticsDestination
        /// The records and properties that the destination receives.
        public var rules: DestinationRules
        /// The position at which the destination starts when its name is first seen.
        public var start: JournalConsumer.Start
    }

    /// The destinations, with unique names.
    public private(set) var destinations: [Entry] = []
    /// The bounds, durability and encryption of the journal; its clock is replaced with ``now``.
    public var journal = JournalConfiguration()
    /// The consent for purposes that the user has not decided on; by default, their events wait on the device.
    public var defaultConsent = AnalyticsConsent.unknown
    /// The pause after which a new session begins; nil turns sessions off.
    public var sessionTimeout: Duration? = .seconds(30 * 60)
    /// Removes secrets and personal data from properties, their names, and the names of events and screens before they
    /// are stored; nil stores everything.
    ///
    /// It does not apply to the user's id: choose one that reveals nothing about the user.
    public var redactor: Redactor? = .standard
    /// Whether events and screens include the properties of the user.
    ///
    /// If set, they are stored across launches until ``AnalyticsService/reset()`` or the id of another user. Off by
    /// default, because destinations store user properties themselves, and some treat them in an event as a change.
    public var attachesUserProperties = false
    /// Called with each tracked or refused record and each delivered batch, for logs; it must return immediately.
    public var observer: (@Sendable (AnalyticsObservation) -> Void)?
    /// The app, system and locale.
    public var context = AnalyticsContext.current

    /// The time for which events are collected before a batch is sent, at least zero.
    public var deliveryInterval = Duration.seconds(15)
    /// The number of tracked events after which the next batch is sent immediately, at least 1.
    public var deliveryThreshold = 100
    /// The delays between failed attempts at a destination.
    ///
    /// The limits on attempts and total time are ignored: the journal's bounds apply. A delay is at least a tenth of
    /// what the policy allows. At the policy's maximum, a random part of the maximum is added.
    public var retry = RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(300))
    /// The delay after a destination has reported a wrong configuration or has refused every record, at least zero.
    public var misconfigurationDelay = Duration.seconds(3600)

    /// The clock for delays and durations.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Returns the time in microseconds since 1970.
    public var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }
    /// Returns random bits for ids and delays.
    public var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    /// Creates a configuration without destinations.
    public init() {}

    /// Adds a destination.
    ///
    /// - Parameters:
    ///   - destination: The destination.
    ///   - rules: The records and properties that the destination receives.
    ///   - start: Where it starts when its name is first seen: with the events stored for other destinations, or with
    ///     the next event.
    public mutating func add(
        _ destination: some AnalyticsDestination,
        rules: DestinationRules = DestinationRules(),
        startingAt start: JournalConsumer.Start = .oldest
    ) {
        destinations.append(Entry(destination: destination, rules: rules, start: start))
    }

    /// The destinations, which report deliveries to the observer.
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

    func isPersonal(_ userID: String?) -> Bool {
        guard let userID, let redactor else { return false }
        return redactor.redact(userID) != userID
    }

    func check() throws(AnalyticsError) {
        // Their files would be the same on a volume that ignores the case of names.
        let names = destinations.map { $0.destination.name.lowercased() }
        guard Set(names).count == names.count else {
            throw AnalyticsError(
                .invalidArgument,
                "Two destinations have the same name; upper and lower case count as equal"
            )
        }
        for entry in destinations {
            let (destination, rules) = (entry.destination, entry.rules)
            guard (1...32).contains(destination.name.utf8.count) else {
                throw AnalyticsError(
                    .invalidArgument,
                    "A destination's name must have 1 to 32 letters, digits, “-” and “_”"
                )
            }
            guard destination.limits.records >= 1, destination.limits.bytes >= 1 else {
                throw AnalyticsError(
                    .invalidArgument,
                    "The limits of “\(destination.name)” must allow a record and a byte"
                )
            }
            guard rules.hashing != nil || !rules.hashesAnything else {
                throw AnalyticsError(
                    .invalidArgument,
                    "The rules of “\(destination.name)” hash properties and need a key"
                )
            }
        }
        guard deliveryThreshold >= 1, deliveryInterval >= .zero, misconfigurationDelay >= .zero
        else {
            throw AnalyticsError(
                .invalidArgument,
                "deliveryThreshold must be at least 1, and intervals must not be negative"
            )
        }
    }
}
