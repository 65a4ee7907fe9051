#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A point in time in microseconds since 1970, as stored with cache entries.
public struct CacheInstant: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microseconds: Int64

    /// Creates an instant.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Creates the instant of a date; dates beyond the range of ±290,000 years are clamped.
    public init(_ date: Date) {
        self.init(microseconds: 0, plus: date.timeIntervalSince1970)
    }

    /// The instant as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Returns the instant a number of seconds later, clamped to the range of `Int64`.
    public func advanced(bySeconds seconds: Double) -> CacheInstant {
        CacheInstant(microseconds: microseconds, plus: seconds)
    }

    /// Returns the duration from this instant to another.
    public func duration(to other: CacheInstant) -> Duration {
        .microseconds(other.microseconds) - .microseconds(microseconds)
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    private init(microseconds start: Int64, plus seconds: Double) {
        let distance = (seconds * 1_000_000).rounded()
        // A distance beyond Int64, infinity included, is clamped; NaN adds nothing.
        guard let exact = Int64(exactly: distance) else {
            microseconds = distance.isNaN ? start : distance < 0 ? .min : .max
            return
        }
        let (sum, overflows) = start.addingReportingOverflow(exact)
        microseconds = overflows ? (exact < 0 ? .min : .max) : sum
    }
}
