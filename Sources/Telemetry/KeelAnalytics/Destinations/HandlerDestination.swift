/// A destination that passes events to a closure: a log, a debug console, a screen for testers.
///
/// ```swift
/// configuration.add(HandlerDestination("console") { record in print(record.kind) })
/// ```
public struct HandlerDestination: AnalyticsDestination {
    public let name: String
    public let guarantee: DeliveryGuarantee
    public let limits: BatchLimits
    private let handler: @Sendable ([AnalyticsRecord]) async -> DeliveryOutcome

    /// Creates a destination that accepts every record.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - handler: Receives each record, repeatedly if the process ends in between.
    public init(_ name: String, handler: @escaping @Sendable (AnalyticsRecord) async -> Void) {
        self.init(name, limits: BatchLimits(records: 100, bytes: .max)) { batch in
            for record in batch { await handler(record) }
            return .delivered
        }
    }

    /// Creates a destination whose closure returns the outcome of a batch; each record counts as one byte.
    public init(
        _ name: String,
        guarantee: DeliveryGuarantee = .atLeastOnce,
        limits: BatchLimits,
        handler: @escaping @Sendable ([AnalyticsRecord]) async -> DeliveryOutcome
    ) {
        self.name = name
        self.guarantee = guarantee
        self.limits = limits
        self.handler = handler
    }

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int { 1 }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await handler(batch)
    }
}
