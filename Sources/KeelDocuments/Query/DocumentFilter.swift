/// A condition on the fields of documents.
///
/// A document without the field matches no condition on it, not even ``Comparison/notEqual``. The
/// order comparisons match only values of the field's own kind (integers and doubles are one kind;
/// NaN is none of them); `notEqual` and `notIn` leave out null. Null and NaN are found by `equal`
/// alone: as members of a list or elements of an array they match nothing, and nothing is less or
/// greater than they are. These are Firestore's rules.
public indirect enum DocumentFilter: Sendable, Hashable {
    /// Compares a field with a value; for the comparisons with a list, with an array of values.
    case field(FieldPath, Comparison, DocumentValue)
    /// All of these hold.
    case and([DocumentFilter])
    /// At least one of these holds.
    case or([DocumentFilter])

    /// How a field is compared with a value.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The field equals the value.
        case equal
        /// The field exists, is not null and differs from the value.
        case notEqual
        /// The field is of the value’s kind and less than it.
        case less
        /// The field is of the value’s kind and at most the value.
        case lessOrEqual
        /// The field is of the value’s kind and greater than it.
        case greater
        /// The field is of the value’s kind and at least the value.
        case greaterOrEqual
        /// The field equals one of up to 30 values; null and NaN among them are passed over.
        case `in`
        /// The field exists, is not null and equals none of up to 10 values. A null among them lets
        /// nothing through, and a NaN leaves out nothing.
        case notIn
        /// The field is an array that has the value as an element.
        case arrayContains
        /// The field is an array that has at least one of up to 30 values as an element.
        case arrayContainsAny

        package var isInequality: Bool {
            switch self {
            case .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual, .notIn: true
            case .equal, .in, .arrayContains, .arrayContainsAny: false
            }
        }

        package var takesList: Bool {
            switch self {
            case .in, .notIn, .arrayContainsAny: true
            default: false
            }
        }
    }
}

extension DocumentFilter {
    /// Every comparison in the filter, in order of appearance.
    package var comparisons: [(field: FieldPath, comparison: Comparison, value: DocumentValue)] {
        switch self {
        case .field(let field, let comparison, let value): [(field, comparison, value)]
        case .and(let filters), .or(let filters): filters.flatMap(\.comparisons)
        }
    }

    package static func all(_ filters: [DocumentFilter]) -> DocumentFilter? {
        filters.count > 1 ? .and(filters) : filters.first
    }
}

extension DocumentFilter {
    /// The field equals the value.
    public static func equal(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .equal, value)
    }
    /// The field exists, is not null and differs from the value.
    public static func notEqual(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .notEqual, value)
    }
    /// The field is of the value's kind and less than it.
    public static func less(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .less, value)
    }
    /// The field is of the value's kind and at most the value.
    public static func lessOrEqual(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .lessOrEqual, value)
    }
    /// The field is of the value's kind and greater than it.
    public static func greater(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .greater, value)
    }
    /// The field is of the value's kind and at least the value.
    public static func greaterOrEqual(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .greaterOrEqual, value)
    }
    /// The field equals one of the values.
    public static func `in`(_ field: FieldPath, _ values: [DocumentValue]) -> Self {
        .field(field, .in, .array(values))
    }
    /// The field exists, is not null and equals none of the values.
    public static func notIn(_ field: FieldPath, _ values: [DocumentValue]) -> Self {
        .field(field, .notIn, .array(values))
    }
    /// The field is an array that has the value.
    public static func arrayContains(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .arrayContains, value)
    }
    /// The field is an array that has one of the values.
    public static func arrayContainsAny(_ field: FieldPath, _ values: [DocumentValue]) -> Self {
        .field(field, .arrayContainsAny, .array(values))
    }
}
