#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event in the app.
public struct AnalyticsEvent: Sendable, Hashable {
    /// The name of the event, a constant: variable values belong in the parameters.
    public var name: String
    /// Details of the event.
    public var parameters: [String: AnalyticsValue]
    /// The time of the event; nil for the time of tracking.
    public var timestamp: Date?
    /// The purpose that the user must have consented to.
    public var purpose: ConsentPurpose

    /// Creates an event.
    public init(
        name: String,
        parameters: [String: AnalyticsValue] = [:],
        timestamp: Date? = nil,
        purpose: ConsentPurpose = .analytics
    ) {
        self.name = name
        self.parameters = parameters
        self.timestamp = timestamp
        self.purpose = purpose
    }
}

/// A view of a screen.
public struct AnalyticsScreen: Sendable, Hashable {
    /// The screen's name.
    public var name: String
    /// Details of the view.
    public var parameters: [String: AnalyticsValue]
    /// The time when the screen was shown; nil for the time of tracking.
    public var timestamp: Date?
    /// The purpose that the user must have consented to.
    public var purpose: ConsentPurpose

    /// Creates a screen view.
    public init(
        name: String,
        parameters: [String: AnalyticsValue] = [:],
        timestamp: Date? = nil,
        purpose: ConsentPurpose = .analytics
    ) {
        self.name = name
        self.parameters = parameters
        self.timestamp = timestamp
        self.purpose = purpose
    }
}

/// An event whose parameters are the properties of a type.
///
/// ```swift
/// struct OrderPlaced: TypedAnalyticsEvent {
///     static let name = "order_placed"
///     var items: Int
///     var total: Double
/// }
/// analytics.trackEvent(OrderPlaced(items: 2, total: 31.5))
/// ```
public protocol TypedAnalyticsEvent: Encodable, Sendable {
    /// The name of the event; see ``AnalyticsEvent/name``.
    static var name: String { get }
    /// The purpose that the user must have consented to; by default, analytics.
    static var purpose: ConsentPurpose { get }
}

extension TypedAnalyticsEvent {
    public static var purpose: ConsentPurpose { .analytics }
}
