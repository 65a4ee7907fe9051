/// A destination that hands events to a closure: a log, a debugger's console, a screen for testers.
///
/// ```swift
/// configuration.add(HandlerDestination("console") { record in print(record.kind) })
/// ```
public struct HandlerDestination: AnalyticsDestination {
    public let name: String
    public let guarantee: DeliveryGuarantee
    public let limits: BatchLimits
    private let handler: @Sendable ([AnalyticsRecord]) async -> DeliveryOutcome

    /// Creates a destination that always takes what it gets.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - handler: Gets each record; more than once where the process ends in between.
    public init(_ name: String, handler: @escaping @Sendable (AnalyticsRecord) async -> Void) {
        self.init(name, limits: BatchLimits(records: 100, bytes: .max)) { batch in
            for record in batch { await handler(record) }
            return .delivered
        }
    }

    /// Creates a destination whose closure says what became of a batch.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - guarantee: What a repeated delivery does.
    ///   - limits: How large a batch may be; every record counts as one byte.
    ///   - handler: Delivers a batch.
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
