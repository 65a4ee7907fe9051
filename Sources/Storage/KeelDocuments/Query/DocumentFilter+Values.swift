// Conditions on Swift values.
//
// The encoder converts the constants, so that they match the stored form: a `Date` becomes a timestamp in microseconds,
// a `UUID` a string, an enumeration its encoding, and nil null. A value that cannot be encoded makes a filter that the
// first call using it rejects.
extension DocumentFilter {
    /// The field equals the value.
    @_disfavoredOverload
    public static func equal(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .equal, .constant(value))
    }
    /// The field exists, is not null and differs from the value.
    @_disfavoredOverload
    public static func notEqual(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .notEqual, .constant(value))
    }
    /// The field is less than the value.
    @_disfavoredOverload
    public static func less(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .less, .constant(value))
    }
    /// The field is at most the value.
    @_disfavoredOverload
    public static func lessOrEqual(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .lessOrEqual, .constant(value))
    }
    /// The field is greater than the value.
    @_disfavoredOverload
    public static func greater(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .greater, .constant(value))
    }
    /// The field is at least the value.
    @_disfavoredOverload
    public static func greaterOrEqual(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .greaterOrEqual, .constant(value))
    }
    /// The field equals one of the values.
    @_disfavoredOverload
    public static func `in`(_ field: FieldPath, _ values: [some Encodable]) -> Self {
        .field(field, .in, .array(values.map { .constant($0) }))
    }
    /// The field exists, is not null and equals none of the values.
    @_disfavoredOverload
    public static func notIn(_ field: FieldPath, _ values: [some Encodable]) -> Self {
        .field(field, .notIn, .array(values.map { .constant($0) }))
    }
    /// The field is an array that contains the value.
    @_disfavoredOverload
    public static func arrayContains(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .arrayContains, .constant(value))
    }
    /// The field is an array that contains at least one of the values.
    @_disfavoredOverload
    public static func arrayContainsAny(_ field: FieldPath, _ values: [some Encodable]) -> Self {
        .field(field, .arrayContainsAny, .array(values.map { .constant($0) }))
    }
}

extension DocumentQuery {
    /// Starts at the documents with these values in the first orders.
    @_disfavoredOverload
    public func start(at values: any Encodable...) -> DocumentQuery {
        with { $0.start = Bound(values.map { .constant($0) }, isInclusive: true) }
    }

    /// Starts after the documents with these values in the first orders.
    @_disfavoredOverload
    public func start(after values: any Encodable...) -> DocumentQuery {
        with { $0.start = Bound(values.map { .constant($0) }, isInclusive: false) }
    }

    /// Ends at the documents with these values in the first orders.
    @_disfavoredOverload
    public func end(at values: any Encodable...) -> DocumentQuery {
        with { $0.end = Bound(values.map { .constant($0) }, isInclusive: true) }
    }

    /// Ends before the documents with these values in the first orders.
    @_disfavoredOverload
    public func end(before values: any Encodable...) -> DocumentQuery {
        with { $0.end = Bound(values.map { .constant($0) }, isInclusive: false) }
    }
}

extension DocumentValue {
    /// The only field of a map that represents an unencodable value.
    private static let flawName = "__flaw__"

    /// Returns the encoding of a value, or a value that every query rejects.
    static func constant(_ value: some Encodable) -> DocumentValue {
        do throws(StorageError) {
            return try DocumentEncoder().encodeValue(value)
        } catch {
            return .map(DocumentFields([(flawName, .string(error.message))]))
        }
    }

    /// The error of the unencodable value that this map represents; nil for other values.
    package var flaw: String? {
        switch self {
        case .map(let fields): fields[Self.flawName]?.stringValue
        case .array(let elements): elements.lazy.compactMap(\.flaw).first
        default: nil
        }
    }
}
