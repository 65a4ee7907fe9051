#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The time for which a cache entry is fresh.
///
/// The time runs from the moment the entry is set. Reads, moves between memory and tier, and reopening do not restart
/// it.
public enum CacheExpiry: Hashable, Sendable {
    /// Until the entry is removed or evicted.
    case never
    /// For a number of seconds; zero or less expires at once.
    case seconds(Double)
    /// For a number of minutes.
    case minutes(Double)
    /// For a number of hours.
    case hours(Double)
    /// For a number of days of 24 hours.
    case days(Double)
    /// Until a point in time.
    case date(Date)

    /// Returns the expiry after a duration.
    public static func after(_ duration: Duration) -> CacheExpiry {
        .seconds(duration / .seconds(1))
    }

    /// Returns the first moment at which an entry is no longer fresh, or nil if it always is.
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
