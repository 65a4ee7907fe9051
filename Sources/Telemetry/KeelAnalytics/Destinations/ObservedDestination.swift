internal import KeelCore

/// A report of a delivery, for logs and metrics.
public struct DeliveryReport: Sendable, Hashable {
    /// The destination's name.
    public let destination: String
    /// The number of records in the batch.
    public let recordCount: Int
    /// The duration of the delivery.
    public let duration: Duration
    /// The outcome.
    public let outcome: DeliveryOutcome
}

/// A destination that reports each delivery; created by `destination.observed { … }`.
///
/// Apply it outside of other decorators, to report the outcomes that the service gets.
public struct ObservedDestination<Upstream: AnalyticsDestination>: AnalyticsDestination {
    fileprivate let upstream: Upstream
    fileprivate let clock: any Clock<Duration>
    fileprivate let report: @Sendable (DeliveryReport) -> Void

    public var name: String { upstream.name }
    public var guarantee: DeliveryGuarantee { upstream.guarantee }
    public var limits: BatchLimits { upstream.limits }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let elapsed = stopwatch(on: clock)
        let outcome = await upstream.deliver(batch)
        report(
            DeliveryReport(
                destination: name,
                recordCount: batch.count,
                duration: elapsed(),
                outcome: outcome
            )
        )
        return outcome
    }
}

extension AnalyticsDestination {
    /// Reports each delivery, after it, to a closure that must not block; see ``ObservedDestination``.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        _ report: @escaping @Sendable (DeliveryReport) -> Void
    ) -> ObservedDestination<Self> {
        ObservedDestination(upstream: self, clock: clock, report: report)
    }
}
