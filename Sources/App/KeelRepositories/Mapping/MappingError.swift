public import KeelCore

/// An error in mapping a DTO to the domain, with the field at fault.
///
/// Missing or malformed values are never replaced with placeholders, such as a random id or the
/// current date. The message names the field and the expectation, never the value.
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
