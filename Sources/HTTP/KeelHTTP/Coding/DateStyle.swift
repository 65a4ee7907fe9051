import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A custom text format for dates.
///
/// ```swift
/// let pattern = Date.VerbatimFormatStyle(
///     format: "\(day: .twoDigits).\(month: .twoDigits).\(year: .padded(4))",
///     timeZone: .gmt,
///     calendar: Calendar(identifier: .gregorian)
/// )
/// let german = DateStyle(
///     "german",
///     read: { try? Date($0, strategy: pattern.parseStrategy) },
///     write: { $0.formatted(pattern) }
/// )
/// configuration.json.dates = .custom(german)
/// ```
///
/// Styles with the same name are equal.
public struct DateStyle: Sendable, Hashable {
    private final class Storage: Sendable {
        let read: @Sendable (String) -> Date?
        let write: @Sendable (Date) -> String?

        init(
            _ read: @escaping @Sendable (String) -> Date?,
            _ write: @escaping @Sendable (Date) -> String?
        ) {
            self.read = read
            self.write = write
        }
    }

    /// The name, which appears in errors.
    public let name: String

    // A single reference keeps a coding small, because each call copies it.
    private let storage: Storage

    /// Creates a style.
    ///
    /// - Parameters:
    ///   - name: A unique name.
    ///   - read: Parses a date; returns nil if the text does not have this style.
    ///   - write: Formats a date; returns nil if the style cannot express it.
    public init(
        _ name: String,
        read: @escaping @Sendable (String) -> Date?,
        write: @escaping @Sendable (Date) -> String?
    ) {
        self.name = name
        storage = Storage(read, write)
    }

    /// Parses a date, or returns nil if the text does not have this style.
    public func date(of text: String) -> Date? { storage.read(text) }

    /// Formats a date, or returns nil if the style cannot express it.
    public func text(of date: Date) -> String? { storage.write(date) }

    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Dates as RFC 3339 text.
///
/// Foundation's formats reject an unannounced fraction, and use the Julian calendar before 1582, unlike RFC 3339.
package enum InternetDate {
    /// Parses a date, or returns nil if the text is not RFC 3339.
    ///
    /// Accepts any number of fraction digits, `Z` or any offset with or without its colon, and a space or a lowercase
    /// letter between date and time. A second of 60 is the first second of the next minute.
    package static func parse(_ text: String) -> Date? {
        guard let (seconds, femtoseconds) = InternetTime.read(text, isLenient: true) else {
            return nil
        }
        let fraction = Double(femtoseconds) / 1_000_000_000_000_000
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Returns the start in UTC of a day such as `2025-01-31`, or nil if the text is not a day.
    static func parseDay(_ text: String) -> Date? {
        text.utf8.count == 10 ? parse(text + "T00:00:00Z") : nil
    }

    /// Returns the day of a date in UTC, or nil for a year outside 0 to 9999.
    static func formatDay(_ date: Date) -> String? {
        format(date, hasFraction: false).map { String($0.prefix(10)) }
    }

    /// Formats a date in UTC, or returns nil for a year outside 0 to 9999.
    ///
    /// A fraction has three digits, rounded; otherwise the time is rounded down to the second.
    package static func format(_ date: Date, hasFraction: Bool) -> String? {
        let seconds = date.timeIntervalSince1970
        // The years 0 to 9999, which also keeps the conversion to an integer safe.
        guard seconds >= -62_167_219_200, seconds < 253_402_300_800 else { return nil }
        let total = Int64((seconds * 1000).rounded(hasFraction ? .toNearestOrEven : .down))
        guard total < 253_402_300_800_000 else { return nil }
        let fraction = ((total % 1000) + 1000) % 1000
        return InternetTime.text(
            ofSeconds: (total - fraction) / 1000,
            fraction: fraction,
            digits: hasFraction ? 3 : 0
        )
    }
}
