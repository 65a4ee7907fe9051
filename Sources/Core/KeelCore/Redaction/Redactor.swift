/// A redactor that removes secrets and personal data from text before it is written.
///
/// It recognizes values by their **name** (``names``) and by their **form** (``patterns``):
///
/// ```swift
/// let redactor = Redactor.standard
/// print(redactor.redact("login of ada@example.org, token=4f2a"))
/// // login of <redacted>, token=<redacted>
/// print(redactor.redact("Bearer 4f2a", named: "Authorization"))
/// // <redacted>
/// print(redactor.redactURL("https://example.org/a?page=2&key=1"))
/// // https://example.org/a?page=redacted&key=redacted
/// ```
///
/// Each text takes time proportional to its length. The redactor prefers removing too much to removing too little. It
/// cannot recognize a secret without a telling name or form: do not write bodies of an unknown kind.
public struct Redactor: Sendable {
    /// The values of a URL's query that are removed.
    public enum QueryRule: Sendable, Hashable {
        /// All values, except those of the given names, to which the other rules still apply.
        case all(except: Set<String> = [])
        /// Values whose name or form is sensitive.
        case sensitive
        /// The whole query, including its names.
        case whole
    }

    /// The names whose values are removed.
    public var names: SensitiveNames

    /// The patterns whose values are removed everywhere.
    public var patterns: RedactionPatterns

    /// The rule for queries of URLs.
    public var query: QueryRule

    /// The text that replaces a removed value.
    public var marker: RedactionMarker

    /// Creates a redactor.
    public init(
        names: SensitiveNames = .standard,
        patterns: RedactionPatterns = .standard,
        query: QueryRule = .all(),
        marker: RedactionMarker = .standard
    ) {
        self.names = names
        self.patterns = patterns
        self.query = query
        self.marker = marker
    }

    /// A redactor with the standard names and patterns, which removes all values of queries.
    public static let standard = Redactor()

    /// Returns whether the values of a name are removed.
    public func isSensitive(_ name: some StringProtocol) -> Bool { names.contains(name) }

    package func isSensitive(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        names.contains(utf8: name)
    }

    /// Returns the verdict on the name of a field: `secret` if it contains a secret, `sensitive` if its values are
    /// removed, nil for neither.
    package func verdict(onName name: UnsafeBufferPointer<UInt8>) -> RecentNames.Verdict? {
        if isNeeded(for: name) { return .secret }
        return isSensitive(utf8: name) ? .sensitive : nil
    }

    /// Returns a text without values that match a pattern or follow a sensitive name.
    ///
    /// A name before a value is followed by a colon or an equals sign, with or without quotes, as in `password=…`,
    /// `"secret": "…"` and `Authorization: …`. An unquoted value ends at the next space, quote or `&`; the value of
    /// `Authorization` and of cookies, and one that begins with `{` or `[`, ends with its line.
    public func redact(_ text: String) -> String {
        // Swift strings are contiguous; strings bridged from Objective-C become so here.
        var text = text
        guard let redacted = text.withUTF8({ redacted($0) }) else { return text }
        return String(decoding: redacted, as: UTF8.self)
    }

    /// Returns a value that is safe to write next to its name.
    public func redact(_ value: String, named name: some StringProtocol) -> String {
        isSensitive(name) ? marker.replacement(for: value.utf8) : redact(value)
    }

    /// Returns pairs of a name and a value, with the sensitive values replaced.
    public func redact(_ values: [String: String]) -> [String: String] {
        values.reduce(into: [:]) { $0[$1.key] = redact($1.value, named: $1.key) }
    }

    /// Returns whether a text contains anything to remove, at little more than the cost of reading it if there is
    /// nothing.
    package func isNeeded(for text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard SecretPrefilter.mayHoldSecret(text) else { return false }
        var scanner = SecretScanner(text, patterns: patterns)
        return !scanner.scan(names, findsOne: true).isEmpty
    }

    /// Returns the text without its secrets, or nil if it has none.
    package func redacted(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { redacted($0) }
    }

    package func redacted(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard SecretPrefilter.mayHoldSecret(bytes) else { return nil }
        var scanner = SecretScanner(bytes, patterns: patterns)
        let secrets = scanner.scan(names)
        guard !secrets.isEmpty else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        for secret in secrets {
            result += bytes[position..<secret.lowerBound]
            result += marker.replacement(for: bytes[secret]).utf8
            position = secret.upperBound
        }
        result += bytes[position...]
        return result
    }
}

/// The kinds of values that are recognized by their form, regardless of their name.
public struct RedactionPatterns: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Email addresses, including those with an encoded at sign (`%40`).
    public static let emailAddresses = Self(rawValue: 1 << 0)
    /// Payment card numbers: 13 to 19 digits that begin with 2 to 6 and have a valid check digit (ISO/IEC 7812-1),
    /// including percent-encoded ones.
    public static let paymentCards = Self(rawValue: 1 << 1)
    /// Bearer and Basic credentials, JSON Web Tokens (RFC 7519), keys with a known prefix, PEM private keys, and user
    /// information in URLs.
    public static let credentials = Self(rawValue: 1 << 2)
    /// IPv4 and IPv6 addresses.
    public static let ipAddresses = Self(rawValue: 1 << 3)
    /// International bank account numbers with valid check digits (ISO 13616).
    public static let bankAccounts = Self(rawValue: 1 << 4)
    /// Telephone numbers that begin with a plus sign (E.164), including percent-encoded ones.
    ///
    /// They are not in ``standard``, because many other numbers look like them.
    public static let phoneNumbers = Self(rawValue: 1 << 5)

    /// All patterns except telephone numbers.
    public static let standard: Self = [
        .emailAddresses, .paymentCards, .credentials, .ipAddresses, .bankAccounts,
    ]

    /// All patterns.
    public static let all: Self = [.standard, .phoneNumbers]
}

/// The text that replaces a removed value.
public struct RedactionMarker: Sendable {
    private let text: @Sendable (_ secret: [UInt8]) -> String

    /// The text `<redacted>`.
    public static let standard = RedactionMarker.fixed("<redacted>")

    /// Returns a marker with the same text for every value.
    public static func fixed(_ text: String) -> RedactionMarker { RedactionMarker { _ in text } }

    /// Returns a marker with the same text for equal values, so that log lines can be correlated.
    ///
    /// The closure receives the bytes of the value and returns a short label, which is shown as `<redacted:label>`. It
    /// must use a keyed hash, such as HMAC with a key that does not leave the process: a plain hash of an email address
    /// or card number can be reversed by trying all of them.
    public static func correlated(
        by label: @escaping @Sendable (_ secret: [UInt8]) -> String
    ) -> RedactionMarker {
        RedactionMarker { secret in "<redacted:\(label(secret))>" }
    }

    package static func computed(_ text: @escaping @Sendable ([UInt8]) -> String) -> RedactionMarker
    {
        RedactionMarker(text: text)
    }

    /// Returns the text that replaces a value.
    public func replacement(for secret: some Sequence<UInt8>) -> String { text(Array(secret)) }

    /// Returns the text that replaces a value inside a URL, reduced to letters, digits and hyphens.
    package func urlReplacement(for secret: some Sequence<UInt8>) -> String {
        let bytes = replacement(for: secret).utf8.filter {
            $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
