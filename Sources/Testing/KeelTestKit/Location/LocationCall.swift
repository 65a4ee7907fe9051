public import KeelLocation

/// A call to a location adapter, as doubles record it.
public enum LocationCall: Sendable, Hashable {
    /// The permission was read.
    case permission
    /// The user was asked for permission.
    case requestPermission(LocationPermission.Scope)
    /// A monitoring began.
    case monitor(LocationRequest)
    /// A monitoring ended.
    case end

    /// The kinds of call.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The permission was read.
        case permission
        /// The user was asked for permission.
        case requestPermission
        /// A monitoring began.
        case monitor
        /// A monitoring ended.
        case end
    }

    /// The kind of call.
    public var kind: Kind {
        switch self {
        case .permission: .permission
        case .requestPermission: .requestPermission
        case .monitor: .monitor
        case .end: .end
        }
    }
}

/// A fault in one call to a location adapter.
public enum LocationFault: Sendable {
    /// The call fails before it reaches the adapter below; a monitoring reports only the failure.
    case failure(LocationError)
    /// A monitoring reports nothing; other calls get through.
    case silence
    /// A monitoring ends with this failure after the given number of fixes; other calls get through.
    case interruption(after: Int, LocationError)
    /// The call is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: LocationFault?)

    /// Fails the call before it reaches the adapter below.
    public static func fail(_ code: LocationError.Code = .unavailable) -> LocationFault {
        .failure(LocationError(code, "an injected fault: the call did not get through"))
    }

    /// Ends a monitoring after `count` fixes.
    public static func interrupt(
        after count: Int,
        _ code: LocationError.Code = .disconnected
    ) -> LocationFault {
        .interruption(after: count, LocationError(code, "an injected fault: it has ended"))
    }

    /// Delays the call on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> LocationFault {
        .delay(duration, then: nil)
    }
}

extension LocationFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: LocationFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
