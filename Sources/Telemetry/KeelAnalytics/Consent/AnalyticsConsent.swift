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
