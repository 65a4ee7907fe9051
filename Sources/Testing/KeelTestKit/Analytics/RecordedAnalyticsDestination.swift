public import KeelAnalytics

/// A destination that records its batches and forwards them.
///
/// A batch is recorded first, whatever the outcome. Copies share one record.
public struct RecordedAnalyticsDestination<Upstream: AnalyticsDestination>: AnalyticsDestination {
    fileprivate let upstream: Upstream
    private let memory = CallMemory<[AnalyticsRecord]>()

    /// All batches, in the order of their deliveries.
    public var batches: [[AnalyticsRecord]] { memory.all }

    /// The number of deliveries.
    public var callCount: Int { memory.all.count }

    /// The most recent batch.
    public var lastBatch: [AnalyticsRecord]? { memory.all.last }

    /// Discards the recorded batches.
    public func forget() { memory.forget() }

    // MARK: Destination

    public var name: String { upstream.name }
    public var guarantee: DeliveryGuarantee { upstream.guarantee }
    public var limits: BatchLimits { upstream.limits }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        memory.add(batch)
        return await upstream.deliver(batch)
    }
}

/// A destination whose deliveries fail according to a list.
///
/// ```swift
/// let flaky = destination.failing([.lostReply, nil, .unavailable()])
/// ```
///
/// Copies share the position in the list.
public struct FaultInjectingAnalyticsDestination<Upstream: AnalyticsDestination>:
    AnalyticsDestination
{
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<[AnalyticsRecord], AnalyticsFault>

    /// The number of deliveries.
    public var callCount: Int { schedule.callCount }

    // MARK: Destination

    public var name: String { upstream.name }
    public var guarantee: DeliveryGuarantee { upstream.guarantee }
    public var limits: BatchLimits { upstream.limits }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let fault: AnalyticsFault?
        do {
            fault = try await schedule.begin(batch) { $0 }
        } catch {
            return .unknown(AnalyticsFault.cancellation)
        }
        guard let fault else { return await upstream.deliver(batch) }
        if fault.hasArrived { _ = await upstream.deliver(batch) }
        return fault.outcome
    }
}

extension AnalyticsDestination {
    /// Records the batches; see ``RecordedAnalyticsDestination``.
    public func recorded() -> RecordedAnalyticsDestination<Self> {
        RecordedAnalyticsDestination(upstream: self)
    }

    /// Makes the first deliveries fail; see ``FaultInjectingAnalyticsDestination``.
    ///
    /// In the list, nil lets a batch through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [AnalyticsFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingAnalyticsDestination<Self> {
        FaultInjectingAnalyticsDestination(
            upstream: self,
            schedule: CallFaults(clock, faults: faults)
        )
    }
}
