public import KeelCore

/// An error in determining the position.
///
/// The platform's error is in ``LocationError/cause``. Neither message nor cause has a position.
public struct LocationError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error; the message may name a host, never a position.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    static var cancellation: LocationError {
        LocationError(.cancelled, "The call was canceled.", cause: CancellationError())
    }
}

extension LocationError {
    /// The kinds of failure of a source; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension LocationError.Code {
    // MARK: Permission

    /// The user has denied permission, or location is turned off.
    public static var permissionDenied: Self {
        .permanent("Explain what the position is for, and point to the system's privacy settings.")
    }
    /// The device's policy forbids access, and the user cannot change that.
    public static var permissionRestricted: Self {
        .permanent("Offer a way without the position; the user cannot grant the permission here.")
    }
    /// The user has not been asked yet.
    public static var permissionNotDetermined: Self {
        .permanent("Call requestPermission(_:) first, when the reason is clear to the user.")
    }

    // MARK: Source

    /// The source has no receiver, or cannot be used now.
    public static var unavailable: Self {
        .transient("Connect or turn on a receiver; a monitored source keeps trying.")
    }
    /// No fix of the requested accuracy arrived in time.
    public static var timedOut: Self {
        .transient("Try again with a clear view of the sky, a longer timeout or a lower accuracy.")
    }
    /// The receiver has lost the position.
    public static var signalLost: Self {
        .transient("Wait for the next fix; buildings and tunnels hide the satellites.")
    }
    /// The connection to the source broke or could not be established.
    public static var disconnected: Self {
        .transient("Check that the source is running; a monitored source reconnects by itself.")
    }
    /// The source, or the request, is not supported.
    public static var unsupported: Self {
        .permanent("Check capabilities() first, and choose a source that supports it.")
    }

    // MARK: Call

    /// A coordinate, a number or a setting is outside the allowed range.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message says; repeating it unchanged fails again.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }
    /// A failure that the adapter could not classify; see ``LocationError/cause``.
    public static var unknown: Self {
        .permanent("Check the cause, and report it so that it can be classified.")
    }

    public static let known: [Self] = [
        .permissionDenied, .permissionRestricted, .permissionNotDetermined, .unavailable,
        .timedOut, .signalLost, .disconnected, .unsupported, .invalidArgument, .cancelled,
        .unknown,
    ]
}
