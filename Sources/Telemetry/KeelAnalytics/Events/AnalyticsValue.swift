#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A property value that every analytics vendor and JSON can represent.
public enum AnalyticsValue: Sendable, Hashable {
    /// The absence of a value.
    case null
    /// A Boolean.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number; non-finite values are sent as null, since JSON has no representation for them.
    case double(Double)
    /// A text.
    case string(String)
    /// A point in time, sent in the vendor's format.
    case date(Date)
    /// An array of values.
    case array([AnalyticsValue])
    /// Values by name.
    case object([String: AnalyticsValue])
}

extension AnalyticsValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: AnalyticsValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, AnalyticsValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
