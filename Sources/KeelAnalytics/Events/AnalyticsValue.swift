#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value of a property: what every analytics vendor can take, and JSON can say.
public enum AnalyticsValue: Sendable, Hashable {
    /// The absence of a value.
    case null
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number; what is not finite is sent as null, since JSON has no word for it.
    case double(Double)
    /// A text.
    case string(String)
    /// A moment, sent in the vendor's form for moments.
    case date(Date)
    /// Several values in order.
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
