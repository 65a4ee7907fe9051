/// Where an event happened: the app, the system and the language.
///
/// It holds nothing that tells one device of a kind from another.
public struct AnalyticsContext: Sendable, Hashable {
    /// The app's name.
    public var appName: String?
    /// The app's version, such as `2.1.0`.
    public var appVersion: String?
    /// The app's build number.
    public var appBuild: String?
    /// The system's name, such as `Linux` or `iOS`.
    public var systemName: String?
    /// The system's version.
    public var systemVersion: String?
    /// The kind of device, such as `x86_64` or `iPhone15,2`.
    public var deviceModel: String?
    /// The language and region, as a BCP 47 tag such as `de-CH`.
    public var locale: String?
    /// The time zone's name in the IANA database, such as `Europe/Zurich`.
    public var timeZone: String?

    /// Creates a context that says nothing; see ``current`` for the one of this process.
    public init() {}
}
