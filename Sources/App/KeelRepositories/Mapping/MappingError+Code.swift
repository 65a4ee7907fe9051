public import KeelCore

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
