/// What the user and the system have decided about an app's use of the position.
public enum LocationPermission: String, Sendable, Hashable, CaseIterable, Codable {
    /// Nobody is asked on this platform: whoever reaches the source may read it.
    case notRequired
    /// The user was not asked yet.
    case notDetermined
    /// The device's rules forbid it, and the user cannot change that.
    case restricted
    /// The user has refused.
    case denied
    /// The app may know the position while it is in use.
    case whenInUse
    /// The app may know the position at any time.
    case always

    /// For how long an app asks to know the position.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        /// While it is in use.
        case whenInUse
        /// At any time.
        case always
    }

    /// Whether the app may know the position.
    public var isGranted: Bool { refusal == nil }

    /// Why the app may not know the position; nil where it may.
    public var refusal: LocationError? {
        switch self {
        case .notRequired, .whenInUse, .always: nil
        case .notDetermined:
            LocationError(.permissionNotDetermined, "The user was not asked for permission yet.")
        case .restricted:
            LocationError(.permissionRestricted, "This device does not allow to use the position.")
        case .denied:
            LocationError(.permissionDenied, "The user does not allow to use the position.")
        }
    }
}
