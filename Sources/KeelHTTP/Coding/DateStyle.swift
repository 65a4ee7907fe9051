#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A way of your own to write dates as text.
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
/// Two styles with the same name count as equal.
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

    /// The style's name: what tells it from others, and what errors call it.
    public let name: String

    // One reference, so that a coding stays small: each call takes a copy.
    private let storage: Storage

    /// Creates a style.
    ///
    /// - Parameters:
    ///   - name: A name that no other style has.
    ///   - read: Returns the date of a text; nil if the text is none of this style.
    ///   - write: Returns the text of a date; nil if the style has none for it.
    public init(
        _ name: String,
        read: @escaping @Sendable (String) -> Date?,
        write: @escaping @Sendable (Date) -> String?
    ) {
        self.name = name
        storage = Storage(read, write)
    }

    /// Returns the date of a text, or nil if the text is none of this style.
    public func date(of text: String) -> Date? { storage.read(text) }

    /// Returns the text of a date, or nil if the style has none for it.
    public func text(of date: Date) -> String? { storage.write(date) }

    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
