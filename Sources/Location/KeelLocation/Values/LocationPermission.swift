/// The decision of the user and the system about an app's access to the position.
public enum LocationPermission: String, Sendable, Hashable, CaseIterable, Codable {
    /// The platform requires no permission.
    case notRequired
    /// The user has not been asked.
    case notDetermined
    /// The device's policy forbids access, and the user cannot change that.
    case restricted
    /// The user has denied access.
    case denied
    /// The app has access while it is in use.
    case whenInUse
    /// The app has access at any time.
    case always

    /// When an app wants access to the position.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        /// While the app is in use.
        case whenInUse
        /// At any time.
        case always
    }

    /// Whether the app has access to the position.
    public var isGranted: Bool { refusal == nil }

    /// Why the app has no access to the position; nil if it has.
    public var refusal: LocationError? {
        switch self {
        case .notRequired, .whenInUse, .always: nil
        case .notDetermined:
            LocationError(
                .permissionNotDetermined,
                "The user has not been asked for permission yet."
            )
        case .restricted:
            LocationError(
                .permissionRestricted,
                "This device does not allow access to the position."
            )
        case .denied:
            LocationError(.permissionDenied, "The user does not allow access to the position.")
        }
    }
}
