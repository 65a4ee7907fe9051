/// What became of a batch.
public enum DeliveryOutcome: Sendable, Hashable {
    /// The destination answered for each record: those of these places in the batch were refused for
    /// ever, all others have arrived.
    case settled(rejected: [Int: AnalyticsRejection])

    /// The batch as a whole was too large; it is sent again in halves.
    ///
    /// A single record is rejected, as with ``unacceptable(_:)``.
    case tooLarge

    /// The batch as a whole was refused because of what is in it, and the destination did not say
    /// which record it was; it is sent again in halves until the record stands alone.
    ///
    /// A record that stands alone is rejected once the destination takes others: one that refuses
    /// everything costs no event. The destination is asked less often after 30 refusals in a minute.
    case unacceptable(AnalyticsRejection)

    /// Nothing was sent: a request takes only so many records from the first, at least one and fewer
    /// than the batch has. They follow as a batch of their own, at once.
    case unsent(fitting: Int)

    /// Nothing has arrived that would not be recognised, and a later try may succeed.
    ///
    /// `notBefore` is what the destination asked for, as a Retry-After field does.
    case postponed(DeliveryProblem, notBefore: Duration?)

    /// Nobody knows whether the batch has arrived: the answer was lost.
    ///
    /// It is repeated unless the destination counts twice; see ``DeliveryGuarantee/atMostOnce``.
    case unknown(DeliveryProblem)

    /// The destination takes nothing from this app until somebody corrects its configuration: a key
    /// is wrong or was withdrawn. The records are kept, within the journal's bounds.
    case misconfigured(DeliveryProblem)

    /// Every record has arrived.
    public static let delivered = DeliveryOutcome.settled(rejected: [:])
}

/// Why a record can never be delivered to a destination.
public struct AnalyticsRejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable name for counters, such as `tooLarge`, `invalidName` or `refused`.
    public let reason: String
    /// What is wrong, without values of properties.
    public let detail: String

    /// Creates a rejection.
    ///
    /// - Parameters:
    ///   - reason: A stable name for counters.
    ///   - detail: What is wrong, without values of properties.
    public init(_ reason: String, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    public var description: String { "\(reason): \(detail)" }
}

/// Why a delivery did not succeed this time.
public struct DeliveryProblem: Sendable, Hashable, CustomStringConvertible {
    /// What happened, without secrets and contents.
    public let description: String
    /// The status of the answer, where there was one.
    public let status: Int?

    /// Creates a problem.
    public init(_ description: String, status: Int? = nil) {
        self.description = description
        self.status = status
    }
}
