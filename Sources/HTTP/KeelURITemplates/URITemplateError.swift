/// The reason why a URI template could not be parsed or expanded.
public struct URITemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure; later versions may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// A character that must not occur in a literal part (RFC 6570 section 2.1).
        public static let literal = Reason(description: "a character that must be encoded")
        /// A brace without its partner.
        public static let unbalancedBrace = Reason(description: "an unbalanced brace")
        /// An operator that RFC 6570 reserves or does not define.
        public static let unknownOperator = Reason(description: "an unknown operator")
        /// A name that is empty or contains an invalid character.
        public static let variableName = Reason(description: "an invalid name")
        /// A prefix that is not a number from 1 to 9999, or more than one modifier.
        public static let modifier = Reason(description: "an invalid modifier")
        /// A prefix of a list or of pairs, for which it is not defined (RFC 6570 section 2.4.1).
        public static let prefixOfComposite = Reason(description: "a prefix of a list or of pairs")
    }

    /// The flaw.
    public let reason: Reason

    /// The position of the mistake in the template, in UTF-8 bytes.
    public let offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the position, without any value of a variable.
    public var description: String { "The template contains \(reason) at byte \(offset)." }
}
