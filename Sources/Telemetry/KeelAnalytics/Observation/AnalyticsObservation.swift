/// An action of an analytics service, without parameters, properties or user ids.
///
/// ```swift
/// configuration.observer = { logger.debug("\($0)") }
/// ```
///
/// Names of events and screens are redacted.
public enum AnalyticsObservation: Sendable, Hashable {
    /// An event, a screen, an identification or user properties were stored.
    case tracked(AnalyticsRecord.Kind)
    /// A record was refused, for this reason.
    case refused(AnalyticsError.Code)
    /// A batch was passed to a destination, with any outcome.
    case delivered(DeliveryReport)
}
