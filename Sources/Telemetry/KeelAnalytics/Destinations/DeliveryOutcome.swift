/// The outcome of delivering a batch.
public enum DeliveryOutcome: Sendable, Hashable {
    /// The records at these indices of the batch are rejected; all others have arrived.
    case settled(rejected: [Int: AnalyticsRejection])

    /// The batch as a whole was too large; it is sent again in halves.
    ///
    /// A single record is treated as with ``unacceptable(_:)``.
    case tooLarge

    /// The batch as a whole was refused for its contents, without saying which record was at fault; it is sent again in
    /// halves until the record is alone.
    ///
    /// A single record is rejected once the destination accepts others, so a destination that refuses everything costs
    /// no events. Requests slow down after 30 refusals per minute.
    case unacceptable(AnalyticsRejection)

    /// Nothing was sent: a request fits only this many records from the first, at least one and fewer than the batch.
    ///
    /// They follow immediately as a separate batch. With any other number, the batch counts as unacceptable.
    case unsent(fitting: Int)

    /// Nothing has arrived, unless repeated records are deduplicated, and a retry may succeed.
    ///
    /// `notBefore` is the delay that the destination asked for, as in a Retry-After field; it is respected up to an
    /// hour.
    case postponed(DeliveryProblem, notBefore: Duration?)

    /// It is unknown whether the batch has arrived: the response was lost.
    ///
    /// It is retried unless the guarantee is ``DeliveryGuarantee/atMostOnce``.
    case unknown(DeliveryProblem)

    /// The destination accepts nothing until its configuration is corrected, for example because of a revoked key.
    /// Records are kept, within the journal's bounds.
    case misconfigured(DeliveryProblem)

    /// Every record has arrived.
    public static let delivered = DeliveryOutcome.settled(rejected: [:])
}

/// The reason why a record can never be delivered to a destination.
public struct AnalyticsRejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable name for counters, such as `tooLarge`, `invalidName` or `refused`.
    public let reason: String
    /// A description of the flaw, without values of properties.
    public let detail: String

    /// Creates a rejection.
    public init(_ reason: String, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    public var description: String { "\(reason): \(detail)" }
}

/// The reason for a failed delivery.
public struct DeliveryProblem: Sendable, Hashable, CustomStringConvertible {
    /// A description of the outcome, without secrets or contents.
    public let description: String
    /// The HTTP status, if there was a response.
    public let status: Int?

    /// Creates a problem.
    public init(_ description: String, status: Int? = nil) {
        self.description = description
        self.status = status
    }
}
