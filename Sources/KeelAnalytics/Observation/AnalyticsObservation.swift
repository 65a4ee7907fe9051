/// One thing that an analytics service did, without parameters, properties and ids of users.
///
/// ```swift
/// configuration.observer = { logger.debug("\($0)") }
/// ```
///
/// Names of events and screens have passed the configuration's redactor.
public enum AnalyticsObservation: Sendable, Hashable {
    /// An event, a screen, a user's identification or properties of the user were kept.
    case tracked(AnalyticsRecord.Kind)
    /// A record is not kept, for this reason.
    case refused(AnalyticsError.Code)
    /// A batch was handed to a destination.
    case delivered(DeliveryReport)
}
