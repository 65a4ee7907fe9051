#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A point in time in microseconds since 1970, the form in which entries keep their times.
public struct CacheInstant: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microseconds: Int64

    /// Creates a point in time.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Creates the point in time of a date; dates beyond 290,000 years are held at the end.
    public init(_ date: Date) {
        self.init(microseconds: 0, plus: date.timeIntervalSince1970)
    }

    /// The same point as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// The point this many seconds later; what is out of range is held at its end.
    public func advanced(bySeconds seconds: Double) -> CacheInstant {
        CacheInstant(microseconds: microseconds, plus: seconds)
    }

    /// How much time passes from this point to another.
    public func duration(to other: CacheInstant) -> Duration {
        .microseconds(other.microseconds) - .microseconds(microseconds)
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    private init(microseconds start: Int64, plus seconds: Double) {
        let distance = (seconds * 1_000_000).rounded()
        // A distance that Int64 cannot hold, infinity included, means one of the ends; no number
        // at all means that no time passes.
        guard let exact = Int64(exactly: distance) else {
            microseconds = distance.isNaN ? start : distance < 0 ? .min : .max
            return
        }
        let (sum, overflows) = start.addingReportingOverflow(exact)
        microseconds = overflows ? (exact < 0 ? .min : .max) : sum
    }
}
