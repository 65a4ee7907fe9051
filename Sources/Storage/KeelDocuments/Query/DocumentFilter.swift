/// A condition on the fields of documents.
///
/// As in Firestore, a document without the field matches no condition on it, not even ``Comparison/notEqual``. Order
/// comparisons match only values of the constant's kind; integers and doubles are one kind. Null matches only `equal`,
/// and NaN only `equal`, `notEqual` and `notIn`: as list members or array elements they match nothing, and nothing is
/// less or greater than they are.
public indirect enum DocumentFilter: Sendable, Hashable {
    /// Compares a field with a value, or with an array of values.
    case field(FieldPath, Comparison, DocumentValue)
    /// All of the conditions hold.
    case and([DocumentFilter])
    /// At least one of the conditions holds.
    case or([DocumentFilter])

    /// A comparison between a field and a value.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The field equals the value.
        case equal
        /// The field exists, is not null and differs from the value.
        case notEqual
        /// The field has the value's kind and is less than the value.
        case less
        /// The field has the value's kind and is at most the value.
        case lessOrEqual
        /// The field has the value's kind and is greater than the value.
        case greater
        /// The field has the value's kind and is at least the value.
        case greaterOrEqual
        /// The field equals one of up to 30 values; null and NaN are ignored.
        case `in`
        /// The field exists, is not null and equals none of up to 10 values. With null among them, nothing matches; NaN
        /// is ignored.
        case notIn
        /// The field is an array that contains the value.
        case arrayContains
        /// The field is an array that contains at least one of up to 30 values.
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
    package var comparisons: [(field: FieldPath, comparison: Comparison, value: DocumentValue)] {
        switch self {
        case .field(let field, let comparison, let value): [(field, comparison, value)]
        case .and(let filters), .or(let filters): filters.flatMap(\.comparisons)
        }
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
    /// The field has the value's kind and is less than the value.
    public static func less(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .less, value)
    }
    /// The field has the value's kind and is at most the value.
    public static func lessOrEqual(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .lessOrEqual, value)
    }
    /// The field has the value's kind and is greater than the value.
    public static func greater(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .greater, value)
    }
    /// The field has the value's kind and is at least the value.
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
    /// The field is an array that contains the value.
    public static func arrayContains(_ field: FieldPath, _ value: DocumentValue) -> Self {
        .field(field, .arrayContains, value)
    }
    /// The field is an array that contains at least one of the values.
    public static func arrayContainsAny(_ field: FieldPath, _ values: [DocumentValue]) -> Self {
        .field(field, .arrayContainsAny, .array(values))
    }
}
