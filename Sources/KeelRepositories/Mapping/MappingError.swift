public import KeelCore

/// Why a DTO is nothing that the domain knows, with the field that is to blame.
///
/// There is no stand-in for what is missing or malformed, no random id and no date of today. The
/// message names the field and what was expected there, never the value.
public struct MappingError: KeelError, Hashable {
    public let code: Code

    /// The field, such as `grades[2].date`; empty for the thing as a whole.
    public let field: String

    /// The expected form, such as “a date in ISO 8601 form”.
    public let expectation: String?

    /// The id of the thing that the field belongs to, where it is known.
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

    /// The thing, the field and what is wrong with it.
    public var message: String {
        let place = field.isEmpty ? "The value" : "The field “\(field)”"
        let owner = entity.map { " of “\($0)”" } ?? ""
        let wish = expectation.map { "; expected \($0)" } ?? ""
        return "\(place)\(owner) \(code.summary)\(wish)."
    }

    /// The same error, for a field that lies inside another one.
    public func prefixed(by outer: String, in entity: String? = nil) -> MappingError {
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
