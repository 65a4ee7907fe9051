/// What the user said about a purpose.
public enum AnalyticsConsent: Sendable, Hashable, CaseIterable {
    /// Nobody has asked: events are kept on this device and go nowhere.
    case unknown
    /// Events may leave.
    case granted
    /// Events are neither kept nor sent.
    case denied
}

/// What happens to events that are still on this device when consent is withdrawn.
public enum RevokedEvents: Sendable, Hashable {
    /// They are removed, and the purpose counts as denied.
    case purge
    /// They wait, as do those that follow, until the user decides again.
    case hold
}
