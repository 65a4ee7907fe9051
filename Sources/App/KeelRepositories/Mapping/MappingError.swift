public import KeelCore

/// An error in mapping a DTO to the domain, with the field at fault.
///
/// The message names the entity, the field and the expectation, never the value.
public struct MappingError: KeelError, Hashable {
    public let code: Code

    /// The field, such as `grades[2].date`; empty for the entity as a whole.
    public let field: String

    /// The expected form, such as “a date in ISO 8601 form”.
    public let expectation: String?

    /// The id of the entity that the field belongs to, if known.
    public let entity: String?

    public let cause: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code,
        field: String,
        expecting expectation: String? = nil,
        in entity: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.field = field
        self.expectation = expectation
        self.entity = entity
        self.cause = cause
    }

    /// The entity, the field and its flaw.
    public var message: String {
        let place = field.isEmpty ? "The value" : "The field “\(field)”"
        let owner = entity.map { " of “\($0)”" } ?? ""
        let wish = expectation.map { "; expected \($0)" } ?? ""
        return "\(place)\(owner) \(code.summary)\(wish)."
    }

    /// Returns the same error for a field inside another field.
    package func prefixed(by outer: String, in entity: String? = nil) -> MappingError {
        let separator = field.isEmpty || field.hasPrefix("[") ? "" : "."
        return MappingError(
            code,
            field: outer.isEmpty ? field : outer + separator + field,
            expecting: expectation,
            in: entity ?? self.entity,
            cause: cause
        )
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.code == other.code && one.field == other.field && one.entity == other.entity
            && one.expectation == other.expectation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(field)
        hasher.combine(entity)
    }
}

extension MappingError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension MappingError.Code {
    /// A required field is missing or null.
    public static let missing = Self(
        name: "missing",
        summary: "is missing",
        advice: "Make the domain type accept its absence, or have the source provide it."
    )
    /// A field does not have the required form.
    public static let malformed = Self(
        name: "malformed",
        summary: "does not have the expected format",
        advice: "Compare the source's format with the one that the mapping expects."
    )
    /// A field has a value that this version does not know.
    public static let unknownValue = Self(
        name: "unknownValue",
        summary: "has an unknown value",
        advice: "Add the value, or map unknown values to a separate case."
    )
    /// A value is outside the range that the domain allows.
    public static let outOfRange = Self(
        name: "outOfRange",
        summary: "is outside of the allowed range",
        advice: "Find out where such values come from, or widen the range."
    )
    /// An identifier occurs twice.
    public static let repeated = Self(
        name: "repeated",
        summary: "occurs more than once",
        advice: "Find out why the source sends the same item twice."
    )
    /// The domain refused the value; see the cause.
    public static let refused = Self(
        name: "refused",
        summary: "was refused by the domain",
        advice: "See the cause: it is the error of the domain type."
    )
    /// The call was canceled; mapping itself is never interrupted.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "was not mapped: the call was canceled",
        advice: "Nothing to do: the caller no longer wants the result."
    )

    public static let known: [Self] = [
        .missing, .malformed, .unknownValue, .outOfRange, .repeated, .refused, .cancelled,
    ]
}
