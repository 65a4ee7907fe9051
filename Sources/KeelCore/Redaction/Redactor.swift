/// Takes secrets and personal data out of what is about to be written down.
///
/// One engine serves logs, traces, recordings and analytics. It knows values by their **name**
/// (``names``) and by their **form** (``patterns``):
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
/// It reads each text once, in time that grows with its length whatever the text is. It errs on
/// the side of taking out too much. It cannot know a secret that has neither a telling name nor a
/// telling form: do not write bodies of unknown kind down.
public struct Redactor: Sendable {
    /// Which values of a URL's query are taken out.
    public enum QueryRule: Sendable, Hashable {
        /// All of them, except those of these names, which still obey the other rules.
        case all(except: Set<String> = [])
        /// Those whose name or form tells that they are sensitive.
        case sensitive
        /// The whole query, its names included.
        case whole
    }

    /// The names whose values are taken out.
    public var names: SensitiveNames

    /// The kinds of value that are taken out wherever they stand.
    public var patterns: RedactionPatterns

    /// The rule for the queries of URLs.
    public var query: QueryRule

    /// The text in the place of a value.
    public var marker: RedactionMarker

    /// Creates a redactor.
    ///
    /// - Parameters:
    ///   - names: The names whose values are taken out.
    ///   - patterns: The kinds of value that are taken out wherever they stand.
    ///   - query: The rule for the queries of URLs.
    ///   - marker: The text in the place of a value.
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

    /// The standard names and patterns, and all values of queries.
    public static let standard = Redactor()

    /// Whether the values of this name are taken out.
    public func isSensitive(_ name: some StringProtocol) -> Bool { names.contains(name) }

    /// Whether the values of the name with these bytes are taken out.
    package func isSensitive(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        names.contains(utf8: name)
    }

    /// What a name of a field says: that it holds a secret itself, that its values are taken out, or
    /// nothing.
    package func verdict(onName name: UnsafeBufferPointer<UInt8>) -> RecentNames.Verdict? {
        if isNeeded(for: name) { return .secret }
        return isSensitive(utf8: name) ? .sensitive : nil
    }

    /// Returns a text without the values that are known by their form or by a name before them.
    ///
    /// A name before a value is one that is followed by a colon or an equals sign, with or without
    /// quotes, as in `password=…`, `"secret": "…"` and `Authorization: …`. A value without quotes
    /// ends at the next space; the value of `Authorization` and of cookies ends with its line.
    public func redact(_ text: String) -> String {
        // Texts of Swift have their bytes in one piece; those of Objective-C get it first.
        var text = text
        guard let redacted = text.withUTF8({ redacted($0) }) else { return text }
        return String(decoding: redacted, as: UTF8.self)
    }

    /// Returns a value as it may be written down next to its name.
    public func redact(_ value: String, named name: some StringProtocol) -> String {
        isSensitive(name) ? marker.replacement(for: value.utf8) : redact(value)
    }

    /// Returns pairs of a name and a value, with the sensitive values replaced.
    public func redact(_ values: [String: String]) -> [String: String] {
        values.reduce(into: [:]) { $0[$1.key] = redact($1.value, named: $1.key) }
    }

    /// Whether there is something to take out of a text.
    ///
    /// It asks for no memory, and takes little more than reading the bytes where there is nothing.
    package func isNeeded(for text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard SecretGlance.mayHoldSecret(text) else { return false }
        var scanner = SecretScanner(text, patterns: patterns)
        return !scanner.scan(names, findsOne: true).isEmpty
    }

    /// Returns the text without its secrets, or nil if it has none.
    package func redacted(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { redacted($0) }
    }

    /// Returns the text without its secrets, or nil if it has none.
    package func redacted(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard SecretGlance.mayHoldSecret(bytes) else { return nil }
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
