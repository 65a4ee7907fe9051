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

    /// The name, which identifies the style and appears in errors.
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
