#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that happened in the app.
public struct AnalyticsEvent: Sendable, Hashable {
    /// What happened, in words that do not change from one event to the next: values belong into
    /// the parameters.
    public var name: String
    /// What there is to say about it.
    public var parameters: [String: AnalyticsValue]
    /// When it happened; nil is the moment at which it is tracked.
    public var timestamp: Date?
    /// What the user must have consented to.
    public var purpose: ConsentPurpose

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - name: What happened.
    ///   - parameters: What there is to say about it.
    ///   - timestamp: When it happened; nil is the moment at which it is tracked.
    ///   - purpose: What the user must have consented to.
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

/// A screen that was shown.
public struct AnalyticsScreen: Sendable, Hashable {
    /// The screen's name.
    public var name: String
    /// What there is to say about it.
    public var parameters: [String: AnalyticsValue]
    /// When it was shown; nil is the moment at which it is tracked.
    public var timestamp: Date?
    /// What the user must have consented to.
    public var purpose: ConsentPurpose

    /// Creates a screen.
    ///
    /// - Parameters:
    ///   - name: The screen's name.
    ///   - parameters: What there is to say about it.
    ///   - timestamp: When it was shown; nil is the moment at which it is tracked.
    ///   - purpose: What the user must have consented to.
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
    /// What happened; see ``AnalyticsEvent/name``.
    static var name: String { get }
    /// What the user must have consented to; analytics unless it is said otherwise.
    static var purpose: ConsentPurpose { get }
}

extension TypedAnalyticsEvent {
    public static var purpose: ConsentPurpose { .analytics }
}
