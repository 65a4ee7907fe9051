/// A value that a document can hold, with Firestore's kinds, order and equality.
///
/// - `==` tests whether two values are stored identically: the integer 3 differs from the double 3.0, and -0.0 from
///   0.0; strings are compared by bytes; NaN equals NaN.
/// - Queries compare by *order*, in which 3 and 3.0 are equal: see ``isEquivalent(to:)`` and ``precedes(_:)``.
public enum DocumentValue: Sendable {
    /// Null; unlike a missing field, a query can find it.
    case null
    /// True or false.
    case boolean(Bool)
    /// A 64-bit integer.
    case integer(Int64)
    /// A double, including NaN and the infinities.
    case double(Double)
    /// A point in time, in microseconds.
    case timestamp(Timestamp)
    /// Text, compared by its UTF-8 bytes.
    case string(String)
    /// Arbitrary bytes.
    case bytes([UInt8])
    /// The path of another document.
    case reference(DocumentPath)
    /// A geographic location.
    case geopoint(GeoPoint)
    /// An array; it cannot be directly in another array.
    case array([DocumentValue])
    /// A vector of doubles, such as an embedding; it cannot be directly in an array.
    case vector(VectorValue)
    /// A map of named values.
    case map(DocumentFields)
}

extension DocumentValue {
    package var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .double: "double"
        case .timestamp: "timestamp"
        case .string: "string"
        case .bytes: "bytes"
        case .reference: "reference"
        case .geopoint: "geopoint"
        case .array: "array"
        case .vector: "vector"
        case .map: "map"
        }
    }

    /// The string, if this is one.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The boolean, if this is one.
    public var booleanValue: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The integer, if this is one.
    public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The number as a double, if this is an integer or a double.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
    /// The timestamp, if this is one.
    public var timestampValue: Timestamp? {
        if case .timestamp(let value) = self { value } else { nil }
    }
    /// The elements, if this is an array.
    public var arrayValue: [DocumentValue]? {
        if case .array(let values) = self { values } else { nil }
    }
    /// The vector, if this is one.
    public var vectorValue: VectorValue? {
        if case .vector(let vector) = self { vector } else { nil }
    }
    /// The fields, if this is a map.
    public var mapValue: DocumentFields? {
        if case .map(let fields) = self { fields } else { nil }
    }

    package var isNumber: Bool { doubleValue != nil }
    package var isNaN: Bool { if case .double(let value) = self { value.isNaN } else { false } }
    package var isNull: Bool { if case .null = self { true } else { false } }
    /// Whether the value is neither null nor NaN, which lists and order comparisons never match.
    package var isFindable: Bool { !isNull && !isNaN }
}

extension DocumentValue: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.double(let one), .double(let other)):
            one.bitPattern == other.bitPattern || one.isNaN && other.isNaN
        case (.timestamp(let one), .timestamp(let other)): one == other
        case (.string(let one), .string(let other)): StoredName.same(one, other)
        case (.bytes(let one), .bytes(let other)): one == other
        case (.reference(let one), .reference(let other)): one == other
        case (.geopoint(let one), .geopoint(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.vector(let one), .vector(let other)): one == other
        case (.map(let one), .map(let other)): one == other
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? 0 : value.bitPattern)
        case .timestamp(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .geopoint(let value): hasher.combine(value)
        case .array(let values): hasher.combine(values)
        case .vector(let vector): hasher.combine(vector)
        case .map(let fields): hasher.combine(fields)
        }
    }
}

extension DocumentValue: CustomStringConvertible {
    /// The value as text for people.
    public var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .timestamp(let value): "timestamp(\(value.microseconds) µs)"
        case .string(let value): "\"\(value)\""
        case .bytes(let value): "bytes(\(value.count))"
        case .reference(let path): "reference(\(path))"
        case .geopoint(let point): "geopoint(\(point.latitude), \(point.longitude))"
        case .array(let values): "\(values)"
        case .vector(let vector): "vector(\(vector.elements))"
        case .map(let fields): fields.description
        }
    }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension DocumentValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension DocumentValue: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension DocumentValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension DocumentValue: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
}

extension DocumentValue: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .map(DocumentFields(elements))
    }
}

/// A geographic location: latitude and longitude in degrees (WGS 84).
public struct GeoPoint: Hashable, Codable, Sendable {
    /// The degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// The degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// Creates a point; writing a document with a point out of range fails.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    package var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }
}
