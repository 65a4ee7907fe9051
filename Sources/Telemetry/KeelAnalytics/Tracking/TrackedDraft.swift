struct TrackedDraft: Sendable {
    var kind: AnalyticsRecord.Kind
    var properties: [String: AnalyticsValue] = [:]
    var userProperties: [String: AnalyticsValue] = [:]
    /// Milliseconds since 1970; nil for the time of tracking.
    var milliseconds: Int64?
    var purpose = ConsentPurpose.analytics

    init(_ kind: AnalyticsRecord.Kind) { self.kind = kind }

    init(_ event: AnalyticsEvent) {
        kind = .event(event.name)
        properties = event.parameters
        milliseconds = event.timestamp?.milliseconds
        purpose = event.purpose
    }

    init(_ screen: AnalyticsScreen) {
        kind = .screen(screen.name)
        properties = screen.parameters
        milliseconds = screen.timestamp?.milliseconds
        purpose = screen.purpose
    }
}
