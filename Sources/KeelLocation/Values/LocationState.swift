#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is known about the position at a moment.
public enum LocationState: Sendable, Hashable {
    /// The source works, and there was no fix yet.
    case searching
    /// The position is known.
    case fixed(LocationFix)
    /// The last fix is of this age, and no newer one has come when it should have.
    case stale(LocationFix, age: Duration)
    /// There is no position, since a time and for a reason: `signalLost`, `disconnected`,
    /// `unavailable`, a refused permission.
    case lost(since: Date, because: LocationError.Code)

    /// The fix, where there is one, stale or not.
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
