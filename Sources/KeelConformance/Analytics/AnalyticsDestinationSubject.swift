public import KeelAnalytics

/// How checks open the destination that they are about.
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
    /// How the other side behaves.
    public enum Condition: Sendable, Hashable, CaseIterable {
        /// It takes everything that keeps its rules.
        case healthy
        /// It answers that it is not available, with a status such as 503.
        case unavailable
        /// It asks for a pause of 30 seconds, as a Retry-After field does.
        case busy
        /// It takes the batch, and the answer is lost.
        case losingReplies
        /// It says that the batch is too large, as the status 413 does.
        case refusingSize
        /// It does not know the key.
        case refusingKey
        /// It never answers.
        case hanging
    }

    /// A destination, and how to look behind it.
    public struct Opened: Sendable {
        /// The destination.
        public let destination: any AnalyticsDestination
        /// The ids of the records that the other side has, in order; one that it counts twice is in
        /// the list twice.
        public let receivedIDs: @Sendable () async throws -> [String]

        /// Creates what a check looks at.
        ///
        /// - Parameters:
        ///   - destination: The destination.
        ///   - receivedIDs: The ids of the records that the other side has.
        public init(
            _ destination: any AnalyticsDestination,
            receivedIDs: @escaping @Sendable () async throws -> [String]
        ) {
            self.destination = destination
            self.receivedIDs = receivedIDs
        }
    }

    /// The conditions that it can be put into.
    public let conditions: Set<Condition>
    let open: @Sendable (Condition) async throws -> Opened

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - conditions: The conditions that it can be put into; healthy is one of them.
    ///   - open: Opens a destination before a new other side in a condition.
    public init(
        conditions: Set<Condition>,
        open: @escaping @Sendable (Condition) async throws -> Opened
    ) {
        self.conditions = conditions
        self.open = open
    }
}
