// Conditions on values of Swift.
//
// The encoder makes the constants, so that they are what is stored: a `Date` becomes a timestamp of
// microseconds, a `UUID` text, an enumeration what it encodes, nil null. A value that cannot be stored
// makes a filter that the first call which uses it refuses.
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
    /// The field is of the value's kind and less than it.
    @_disfavoredOverload
    public static func less(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .less, .constant(value))
    }
    /// The field is of the value's kind and at most the value.
    @_disfavoredOverload
    public static func lessOrEqual(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .lessOrEqual, .constant(value))
    }
    /// The field is of the value's kind and greater than it.
    @_disfavoredOverload
    public static func greater(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .greater, .constant(value))
    }
    /// The field is of the value's kind and at least the value.
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
    /// The field is an array that has the value.
    @_disfavoredOverload
    public static func arrayContains(_ field: FieldPath, _ value: some Encodable) -> Self {
        .field(field, .arrayContains, .constant(value))
    }
    /// The field is an array that has one of the values.
    @_disfavoredOverload
    public static func arrayContainsAny(_ field: FieldPath, _ values: [some Encodable]) -> Self {
        .field(field, .arrayContainsAny, .array(values.map { .constant($0) }))
    }
}

extension DocumentQuery {
    /// Begins at the documents with these values of the first orders.
    @_disfavoredOverload
    public func start(at values: any Encodable...) -> DocumentQuery {
        with { $0.start = Bound(values.map { .constant($0) }, isInclusive: true) }
    }

    /// Begins after the documents with these values of the first orders.
    @_disfavoredOverload
    public func start(after values: any Encodable...) -> DocumentQuery {
        with { $0.start = Bound(values.map { .constant($0) }, isInclusive: false) }
    }

    /// Ends with the documents with these values of the first orders.
    @_disfavoredOverload
    public func end(at values: any Encodable...) -> DocumentQuery {
        with { $0.end = Bound(values.map { .constant($0) }, isInclusive: true) }
    }

    /// Ends before the documents with these values of the first orders.
    @_disfavoredOverload
    public func end(before values: any Encodable...) -> DocumentQuery {
        with { $0.end = Bound(values.map { .constant($0) }, isInclusive: false) }
    }
}

extension DocumentValue {
    /// The only field of a map that stands for a value which cannot be stored; no document can have one.
    private static let flawName = "__flaw__"

    /// What the encoder makes of a value, or a value that every query refuses.
    static func constant(_ value: some Encodable) -> DocumentValue {
        do throws(StorageError) {
            return try DocumentEncoder().encodeValue(value)
        } catch {
            return .map(DocumentFields([(flawName, .string(error.message))]))
        }
    }

    /// Why the value of Swift that this stands for cannot be stored; nil for every other value.
    package var flaw: String? {
        switch self {
        case .map(let fields): fields[Self.flawName]?.stringValue
        case .array(let elements): elements.lazy.compactMap(\.flaw).first
        default: nil
        }
    }
}
