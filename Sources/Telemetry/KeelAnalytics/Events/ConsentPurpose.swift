/// What an event is used for, in the terms of the consent dialog.
public struct ConsentPurpose: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, stable across versions.
    public let rawValue: String

    /// Creates a purpose.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// How the app is used.
    public static let analytics: ConsentPurpose = "analytics"
    /// How fast and reliable the app is.
    public static let performance: ConsentPurpose = "performance"
    /// What the user may want to buy.
    public static let marketing: ConsentPurpose = "marketing"
}
