/// The purpose of an event, in the terms of the consent dialog.
public struct ConsentPurpose: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, stable across versions.
    public let rawValue: String

    /// Creates a purpose.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// Learning how the app is used.
    public static let analytics: ConsentPurpose = "analytics"
    /// Measuring how fast and reliable the app is.
    public static let performance: ConsentPurpose = "performance"
    /// Advertising and offers.
    public static let marketing: ConsentPurpose = "marketing"
}

/// The user's decision about a purpose.
public enum AnalyticsConsent: Sendable, Hashable, CaseIterable {
    /// The user has not been asked: events are stored on the device and not sent.
    case unknown
    /// Events may be sent.
    case granted
    /// Events are neither stored nor sent.
    case denied
}

/// The treatment of undelivered events when the user withdraws consent.
public enum RevocationPolicy: Sendable, Hashable {
    /// They are removed, and the purpose counts as denied.
    case purge
    /// They wait, with the events that follow, until the user decides again.
    case hold
}
