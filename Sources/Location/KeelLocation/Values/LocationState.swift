#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is known about the position at a point in time.
public enum LocationState: Sendable, Hashable {
    /// The source works, but there has been no fix.
    case searching
    /// The position is known.
    case fixed(LocationFix)
    /// The last fix is stale, at this age.
    case stale(LocationFix, age: Duration)
    /// There has been no position since this time, for this reason: `signalLost`, `disconnected`,
    /// `unavailable` or a missing permission.
    case lost(since: Date, because: LocationError.Code)

    /// The fix, stale or not, if there is one.
    public var fix: LocationFix? {
        switch self {
        case .fixed(let fix), .stale(let fix, _): fix
        case .searching, .lost: nil
        }
    }

    /// Whether the position is known and not stale.
    public var isFixed: Bool {
        if case .fixed = self { true } else { false }
    }
}
