#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A point in time in whole microseconds, as documents store it.
///
/// `Date` counts seconds in a `Double`, which cannot hold every microsecond; a timestamp survives
/// storage exactly. Finer fractions are rounded down, as Firestore does.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before it.
    public var microseconds: Int64

    /// Creates a timestamp from microseconds since 1970.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Creates a timestamp from a date, rounding down to the microsecond.
    ///
    /// A date outside of what `Int64` microseconds can express becomes the nearest one that fits.
    public init(_ date: Date) {
        // The reference date keeps more of a current date's precision than 1970 would.
        let sinceReference = date.timeIntervalSinceReferenceDate * 1_000_000
        // A Double names most microseconds a hair too low, and flooring those would lose one.
        let rounded = sinceReference.rounded()
        let exact = abs(sinceReference - rounded) < 0.25 ? rounded : sinceReference.rounded(.down)
        let whole = Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
        let (sum, overflow) = whole.addingReportingOverflow(Self.referenceMicroseconds)
        microseconds = overflow ? .max : sum
    }

    /// The system's current time.
    public static func now() -> Timestamp { Timestamp(Date()) }

    /// This point in time as a `Date`, within a `Date`'s precision.
    public var date: Date {
        let sinceReference = Double(microseconds) - Double(Self.referenceMicroseconds)
        guard abs(microseconds) < 1 << 53 else {
            return Date(timeIntervalSinceReferenceDate: sinceReference / 1_000_000)
        }
        let whole = microseconds - Self.referenceMicroseconds
        return Date(timeIntervalSinceReferenceDate: Double(whole) / 1_000_000)
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { microseconds.flooredQuotient(by: 1_000_000) }

    /// The microseconds that follow ``seconds``: 0 to 999,999.
    public var fraction: Int64 {
        let remainder = microseconds % 1_000_000
        return remainder < 0 ? remainder + 1_000_000 : remainder
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    /// 2001-01-01T00:00:00Z, where `Date` begins to count.
    private static let referenceMicroseconds: Int64 = 978_307_200_000_000
}

extension Int64 {
    /// Divides rounding towards negative infinity, where `/` rounds towards zero.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
