public import KeelHTTP

/// A URI template with variables in braces (RFC 6570 level 4).
///
/// ```swift
/// let template = try URITemplate("/users/{id}{?fields*}")
/// let path = try template.expanded(["id": "a/b", "fields": ["name", "age"]])
/// // /users/a%2Fb?fields=name&fields=age
/// ```
///
/// | expression | of `var` = "a/b", `list` = ["x", "y"] |
/// |---|---|
/// | `{var}` | `a%2Fb`: the value stays inside its segment |
/// | `{+var}` | `a/b`: reserved characters and percent triplets of the value are kept |
/// | `{#var}` | `#a/b` |
/// | `{.list*}` | `.x.y` |
/// | `{/list*}` | `/x/y` |
/// | `{;list*}` | `;list=x;list=y` |
/// | `{?list}`, `{?list*}` | `?list=x,y`, `?list=x&list=y` |
/// | `{&list*}` | `&list=x&list=y` |
/// | `{var:1}` | `a`: the first characters of a string |
///
/// A variable without a value, an empty list and empty pairs expand to nothing. Names of pairs are encoded as strictly
/// as their values, although the RFC would keep reserved characters: a name cannot add a parameter. With `{+var:3}` and
/// `{#var:3}` a percent triplet of the value counts as one character and is never split.
public struct URITemplate: Sendable, Hashable, CustomStringConvertible {
    /// The template's text.
    public let description: String

    let parts: [Part]

    /// Parses a template.
    ///
    /// - Throws: ``URITemplateError`` with the position of the mistake.
    public init(_ text: some StringProtocol) throws(URITemplateError) {
        description = String(text)
        var parser = URITemplateParser(Array(text.utf8))
        parts = try parser.parse()
    }

    /// The names of the variables, in the order of their first use.
    public var variableNames: [String] {
        var names: [String] = []
        for part in parts {
            guard case .expression(let expression) = part else { continue }
            for variable in expression.variables where !names.contains(variable.name) {
                names.append(variable.name)
            }
        }
        return names
    }

    /// Returns the template expanded with these values; a variable without a value is undefined.
    ///
    /// - Throws: ``URITemplateError/Reason/prefixOfComposite`` if a variable with a prefix has a list or pairs as its
    ///   value.
    public func expanded(_ values: [String: Value]) throws(URITemplateError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .expression(let expression): text += try expression.expanded(values)
            }
        }
        return text
    }
}

extension URITemplate {
    /// The value of a variable.
    public enum Value: Sendable, Hashable {
        /// One text.
        case string(String)
        /// Several texts in order; an empty list is undefined.
        case list([String])
        /// Names with values in order; empty pairs are undefined.
        case pairs([HTTPQuery.Item])

        /// Creates the value from a number or another value with a lossless description.
        public init(_ value: some LosslessStringConvertible) {
            self = .string(value.description)
        }
    }

    enum Part: Sendable, Hashable {
        /// Text that is already encoded.
        case literal(String)
        case expression(Expression)
    }

    struct Expression: Sendable, Hashable {
        var mark: Mark
        var variables: [Variable]
    }

    struct Variable: Sendable, Hashable {
        var name: String
        var modifier: Modifier?
        /// The position of the variable in the template, in bytes.
        var offset: Int
    }

    enum Modifier: Sendable, Hashable {
        case explode
        case prefix(Int)
    }

    /// The operator after an opening brace (RFC 6570 section 2.2).
    enum Mark: UInt8, Sendable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case segment = 0x2F  // /
        case parameter = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &
    }
}

extension URITemplate.Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension URITemplate.Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self = .string(String(value)) }
}

extension URITemplate.Value: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: String...) { self = .list(elements) }
}

extension URITemplate.Value: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self = .pairs(elements.map { HTTPQuery.Item(name: $0, value: $1) })
    }
}

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

    /// The kind of failure.
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
