public import KeelLocation

/// One call of a source of positions, as doubles remember it.
public enum LocationCall: Sendable, Hashable {
    /// The decision about permission was asked for.
    case permission
    /// The user was to be asked.
    case requestPermission(LocationPermission.Scope)
    /// The source was begun to be monitored.
    case monitor(LocationRequest)
    /// A monitoring was ended.
    case end

    /// The kinds of calls.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The decision about permission was asked for.
        case permission
        /// The user was to be asked.
        case requestPermission
        /// The source was begun to be monitored.
        case monitor
        /// A monitoring was ended.
        case end
    }

    /// Which kind of call it is.
    public var kind: Kind {
        switch self {
        case .permission: .permission
        case .requestPermission: .requestPermission
        case .monitor: .monitor
        case .end: .end
        }
    }
}

/// What goes wrong with one call of a source of positions.
public enum LocationFault: Sendable {
    /// The call fails before it reaches the source; a monitoring reports the failure, and nothing
    /// else.
    case failure(LocationError)
    /// A monitoring reports nothing; other calls go through.
    case silence
    /// A monitoring ends by itself after so many fixes, with this failure; other calls go through.
    case interruption(after: Int, LocationError)
    /// The call takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: LocationFault?)

    /// The call fails before it reaches the source.
    ///
    /// - Parameter code: The kind of the failure.
    /// - Returns: The fault.
    public static func fail(_ code: LocationError.Code = .unavailable) -> LocationFault {
        .failure(LocationError(code, "an injected fault: the call did not get through"))
    }

    /// A monitoring ends by itself.
    ///
    /// - Parameters:
    ///   - count: The fixes that are reported before.
    ///   - code: The kind of the failure.
    /// - Returns: The fault.
    public static func interrupt(
        after count: Int,
        _ code: LocationError.Code = .disconnected
    ) -> LocationFault {
        .interruption(after: count, LocationError(code, "an injected fault: it has ended"))
    }

    /// The call takes this long on the clock, and goes through.
    ///
    /// - Parameter duration: How long.
    /// - Returns: The fault.
    public static func delay(_ duration: Duration) -> LocationFault {
        .delay(duration, then: nil)
    }
}

extension LocationFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: LocationFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
