public import KeelAnalytics
internal import Synchronization

/// A destination that remembers the batches it gets and hands each of them on.
///
/// A batch is remembered before it is handed on, whatever becomes of it. Copies share one memory.
public struct RecordedAnalyticsDestination<Upstream: AnalyticsDestination>: AnalyticsDestination {
    private final class Memory: Sendable {
        let batches = Mutex<[[AnalyticsRecord]]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; `destination.recorded()` is the usual way.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    /// All batches, in the order in which they came.
    public var batches: [[AnalyticsRecord]] { memory.batches.withLock { $0 } }

    /// How many deliveries there were.
    public var callCount: Int { memory.batches.withLock { $0.count } }

    /// The batch that came last.
    public var lastBatch: [AnalyticsRecord]? { memory.batches.withLock { $0.last } }

    /// Forgets the batches so far.
    public func forget() { memory.batches.withLock { $0 = [] } }

    // MARK: Destination

    public var name: String { upstream.name }
    public var guarantee: DeliveryGuarantee { upstream.guarantee }
    public var limits: BatchLimits { upstream.limits }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        memory.batches.withLock { $0.append(batch) }
        return await upstream.deliver(batch)
    }
}

/// A destination whose deliveries fail as a test wants them to.
///
/// ```swift
/// let flaky = destination.failing([.lostReply, nil, .unavailable()])
/// ```
///
/// Copies share the position in the list.
public struct FaultInjectingAnalyticsDestination<Upstream: AnalyticsDestination>:
    AnalyticsDestination
{
    private final class Counter: Sendable {
        let calls = Atomic<Int>(0)
    }

    private let upstream: Upstream
    private let clock: any Clock<Duration>
    private let faults: [AnalyticsFault?]
    private let counter = Counter()

    /// Creates the decorator; `destination.failing(_:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The destination that gets what goes through.
    ///   - clock: The clock on which delays are measured.
    ///   - faults: What goes wrong with each delivery, in order; nil lets it through, as what comes
    ///     after the list.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        faults: [AnalyticsFault?]
    ) {
        self.upstream = upstream
        self.clock = clock
        self.faults = faults
    }

    /// How many deliveries there were.
    public var callCount: Int { counter.calls.load(ordering: .relaxed) }

    // MARK: Destination

    public var name: String { upstream.name }
    public var guarantee: DeliveryGuarantee { upstream.guarantee }
    public var limits: BatchLimits { upstream.limits }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let position = counter.calls.wrappingAdd(1, ordering: .relaxed).oldValue
        var fault = position < faults.count ? faults[position] : nil
        while case .delay(let duration, let next) = fault {
            do {
                try await clock.sleep(for: duration)
            } catch {
                return .unknown(DeliveryProblem("the request was canceled"))
            }
            fault = next
        }
        guard let fault else { return await upstream.deliver(batch) }
        if fault.hasArrived { _ = await upstream.deliver(batch) }
        return fault.outcome
    }
}

extension AnalyticsDestination {
    /// Remembers the batches; see ``RecordedAnalyticsDestination``.
    ///
    /// - Returns: The decorated destination.
    public func recorded() -> RecordedAnalyticsDestination<Self> {
        RecordedAnalyticsDestination(self)
    }

    /// Lets the first deliveries fail; see ``FaultInjectingAnalyticsDestination``.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong with each delivery, in order; nil lets it through.
    ///   - clock: The clock on which delays are measured.
    /// - Returns: The decorated destination.
    public func failing(
        _ faults: [AnalyticsFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingAnalyticsDestination<Self> {
        FaultInjectingAnalyticsDestination(self, clock: clock, faults: faults)
    }
}
