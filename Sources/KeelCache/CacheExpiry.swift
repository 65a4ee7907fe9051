#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How long an entry of a cache may be used.
///
/// The time counts from the moment at which the entry is set. Reading it, moving it between memory
/// and disk or opening the cache again does not start it anew.
public enum CacheExpiry: Hashable, Sendable {
    /// Until it is removed, or has to make room.
    case never
    /// For this many seconds; zero or less has expired at once.
    case seconds(Double)
    /// For this many minutes.
    case minutes(Double)
    /// For this many hours.
    case hours(Double)
    /// For this many days of 24 hours.
    case days(Double)
    /// Until this point in time.
    case date(Date)

    /// The expiry after a duration.
    public static func after(_ duration: Duration) -> CacheExpiry {
        let (seconds, attoseconds) = duration.components
        return .seconds(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// The point in time at which an entry expires, nil for one that does not.
    ///
    /// - Parameter created: When the entry was set.
    /// - Returns: The first moment at which the entry is no longer used.
    public func instant(from created: CacheInstant) -> CacheInstant? {
        switch self {
        case .never: nil
        case .seconds(let count): created.advanced(bySeconds: count)
        case .minutes(let count): created.advanced(bySeconds: count * 60)
        case .hours(let count): created.advanced(bySeconds: count * 3600)
        case .days(let count): created.advanced(bySeconds: count * 86_400)
        case .date(let date): CacheInstant(date)
        }
    }
}
