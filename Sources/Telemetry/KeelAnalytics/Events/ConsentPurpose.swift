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
