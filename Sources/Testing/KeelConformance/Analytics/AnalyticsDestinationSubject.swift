public import KeelAnalytics

/// A factory of the destinations that checks open.
///
/// ```swift
/// static let subject = AnalyticsDestinationSubject(conditions: [.healthy, .unavailable]) { condition in
///     let server = VendorServer(condition)
///     return .init(VendorDestination(key: "test", transport: server.transport)) {
///         server.receivedIDs
///     }
/// }
/// ```
public struct AnalyticsDestinationSubject: Sendable {
    /// The behavior of the other side.
    public enum Condition: Sendable, Hashable, CaseIterable {
        /// It accepts every valid batch.
        case healthy
        /// It is unavailable and says so, such as with status 503.
        case unavailable
        /// It asks for a pause of 30 seconds, as with a `Retry-After` field.
        case busy
        /// It accepts the batch, but the reply is lost.
        case losingReplies
        /// It rejects the batch as too large, as with status 413.
        case refusingSize
        /// It rejects the key.
        case refusingKey
        /// It never answers.
        case hanging
    }

    /// An open destination with access to the other side.
    public struct Opened: Sendable {
        /// The destination.
        public let destination: any AnalyticsDestination
        /// Returns the ids of the records that the other side has, in order; a record counted twice appears twice.
        public let receivedIDs: @Sendable () async throws -> [String]

        /// Creates an open destination.
        public init(
            _ destination: any AnalyticsDestination,
            receivedIDs: @escaping @Sendable () async throws -> [String]
        ) {
            self.destination = destination
            self.receivedIDs = receivedIDs
        }
    }

    /// The supported conditions.
    public let conditions: Set<Condition>
    let open: @Sendable (Condition) async throws -> Opened

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - conditions: The supported conditions; they include `healthy`.
    ///   - open: Opens a destination for a new other side in the given condition.
    public init(
        conditions: Set<Condition>,
        open: @escaping @Sendable (Condition) async throws -> Opened
    ) {
        self.conditions = conditions
        self.open = open
    }
}
