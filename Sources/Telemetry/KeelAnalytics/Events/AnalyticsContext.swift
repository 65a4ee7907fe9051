/// The app, system and locale of an event.
///
/// It contains nothing that distinguishes devices of the same model.
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
    /// The device model, such as `x86_64` or `iPhone15,2`.
    public var deviceModel: String?
    /// The language and region, as a BCP 47 tag such as `de-CH`.
    public var locale: String?
    /// The time zone's name in the IANA database, such as `Europe/Zurich`.
    public var timeZone: String?

    /// Creates an empty context; see ``current`` for that of this process.
    public init() {}
}
