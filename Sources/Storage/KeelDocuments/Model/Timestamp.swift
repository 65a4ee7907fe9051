#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A point in time in whole microseconds, as documents store it.
///
/// `Date` counts seconds in a `Double`, which cannot represent every microsecond.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The microseconds since 1970-01-01T00:00:00Z; negative before it.
    public var microseconds: Int64

    /// Creates a timestamp from microseconds since 1970.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Creates a timestamp from a date, rounded down to the microsecond.
    ///
    /// A date less than 0.25 µs before a whole microsecond is rounded up, because `Date` may not represent that
    /// microsecond. A date outside the range of `Int64` microseconds is clamped.
    public init(_ date: Date) {
        // Counting from the reference date keeps more precision for current dates than counting from 1970.
        let sinceReference = date.timeIntervalSinceReferenceDate * 1_000_000
        // The Double for a whole microsecond is often slightly too low, and rounding it down would lose one.
        let rounded = sinceReference.rounded()
        let exact = abs(sinceReference - rounded) < 0.25 ? rounded : sinceReference.rounded(.down)
        guard let whole = Int64(exactly: exact) else {
            // The first timestamps are in range only when counted from 1970.
            let since1970 = exact + Double(Self.referenceMicroseconds)
            microseconds = Int64(exactly: since1970) ?? (exact < 0 ? .min : .max)
            return
        }
        let (sum, overflow) = whole.addingReportingOverflow(Self.referenceMicroseconds)
        microseconds = overflow ? .max : sum
    }

    /// Returns the current time of the system clock.
    public static func now() -> Timestamp { Timestamp(Date()) }

    /// The time as a `Date`, within its precision.
    public var date: Date {
        let sinceReference = Double(microseconds) - Double(Self.referenceMicroseconds)
        guard microseconds.magnitude < 1 << 53 else {
            return Date(timeIntervalSinceReferenceDate: sinceReference / 1_000_000)
        }
        let whole = microseconds - Self.referenceMicroseconds
        return Date(timeIntervalSinceReferenceDate: Double(whole) / 1_000_000)
    }

    /// The whole seconds since 1970, rounded down.
    public var seconds: Int64 { microseconds.flooredQuotient(by: 1_000_000) }

    /// The microseconds after ``seconds``: 0 to 999,999.
    public var fraction: Int64 {
        let remainder = microseconds % 1_000_000
        return remainder < 0 ? remainder + 1_000_000 : remainder
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    /// 2001-01-01T00:00:00Z, the reference date of `Date`.
    private static let referenceMicroseconds: Int64 = 978_307_200_000_000
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Timestamp {
    /// Returns the time advanced by a duration, clamped to the range of timestamps.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let span = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Timestamp(microseconds: Int64(clamping: Int128(microseconds) + span))
    }
}
