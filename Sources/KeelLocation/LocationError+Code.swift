public import KeelCore

extension LocationError {
    /// The kinds of failure of a source; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code, for an adapter with a failure that no code here describes.
        ///
        /// - Parameters:
        ///   - name: The code's name, stable across versions.
        ///   - isTransient: Whether the failure may resolve itself; others end a sequence of fixes.
        ///   - advice: What the reader of the error can do, as a sentence.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension LocationError.Code {
    // MARK: Permission

    /// The user has denied permission, or location is turned off.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Explain what the position is for, and point to the system's privacy settings."
    )
    /// The device's policy forbids access, and the user cannot change that.
    public static let permissionRestricted = Self(
        name: "permissionRestricted",
        advice: "Offer a way without the position; the user cannot grant the permission here."
    )
    /// The user has not been asked yet.
    public static let permissionNotDetermined = Self(
        name: "permissionNotDetermined",
        advice: "Call requestPermission(_:) first, when the reason is clear to the user."
    )

    // MARK: Source

    /// The source has no receiver, or cannot be used now.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Connect or turn on a receiver; a monitored source keeps trying."
    )
    /// No fix of the requested accuracy arrived in time.
    public static let timedOut = Self(
        name: "timedOut",
        isTransient: true,
        advice: "Try again with a clear view of the sky, a longer timeout or a lower accuracy."
    )
    /// The receiver has lost the position.
    public static let signalLost = Self(
        name: "signalLost",
        isTransient: true,
        advice: "Wait for the next fix; buildings and tunnels hide the satellites."
    )
    /// The connection to the source broke or could not be established.
    public static let disconnected = Self(
        name: "disconnected",
        isTransient: true,
        advice: "Check that the source is running; a monitored source reconnects by itself."
    )
    /// The source, or the request, is not supported.
    public static let unsupported = Self(
        name: "unsupported",
        advice: "Check capabilities() first, and choose a source that supports it."
    )

    // MARK: Call

    /// A coordinate, a number or a setting is outside the allowed range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// A failure that the adapter could not classify; see ``LocationError/cause``.
    public static let unknown = Self(
        name: "unknown",
        advice: "Check the cause, and report it so that it can be classified."
    )

    public static let known: [Self] = [
        .permissionDenied, .permissionRestricted, .permissionNotDetermined, .unavailable,
        .timedOut, .signalLost, .disconnected, .unsupported, .invalidArgument, .cancelled,
        .unknown,
    ]
}
