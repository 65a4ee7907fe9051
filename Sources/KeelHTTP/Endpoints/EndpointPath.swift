#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The path of an endpoint below its client's base URL.
///
/// Write it as a string literal. The literal's own text is structure; a value put in by
/// interpolation stays inside its segment, whatever characters it has:
///
/// ```swift
/// var path: EndpointPath { "/restaurants/\(name)/menu" }    // name = "Fish & Chips / Bar?"
/// // /restaurants/Fish%20%26%20Chips%20%2F%20Bar%3F/menu
/// ```
///
/// The client refuses a path, with ``NetworkError/Code/invalidURL``, if an interpolated value is
/// empty or makes a segment of dots only: either would silently name another resource. It also
/// refuses a literal with a question mark or a number sign: a query belongs into the endpoint's
/// `query`.
///
/// A path can also be written as a URI template, see `init(template:_:)`, and an address outside of
/// the base URL as ``url(_:)``.
public struct EndpointPath: Sendable, Hashable {
    /// What became of the text.
    enum Content: Sendable, Hashable {
        /// The encoded path without its leading slash, and the encoded query that it brings.
        case usable(path: String, query: String)
        /// An address that owes nothing to the base URL.
        case absolute(URL)
        /// Why the client must refuse the path.
        case refused(String)
    }

    let content: Content

    init(encoded: String?, query: String = "") {
        if let encoded, Self.isSafe(encoded) {
            let path = encoded.utf8.drop { $0 == UInt8(ascii: "/") }
            content = .usable(path: String(Substring(path)), query: query)
        } else {
            content = .refused(
                "The path of the endpoint has an empty value, a segment of dots only, "
                    + "a query or a stray percent sign."
            )
        }
    }

    /// Creates a path from what ``encodedForm`` gave.
    package init(encodedForm form: (path: String, query: String)) {
        self.init(encoded: form.path, query: form.query)
    }

    /// The encoded path and the query that it brings; nil for a path that a client refuses, and for
    /// an address of its own.
    package var encodedForm: (path: String, query: String)? {
        guard case .usable(let path, let query) = content else { return nil }
        return (path, query)
    }

    init(refusedFor reason: String) {
        content = .refused(reason)
    }

    /// An absolute address in place of a path below the base URL, such as a link from a response.
    ///
    /// ```swift
    /// let next = try await client.get(.url(page.next), as: Page.self)
    /// ```
    ///
    /// Path and query are sent as the URL has them, and a fragment is not sent. The endpoint's `query`
    /// is added. If the address has not the origin of the client's base URL, then the client's
    /// ``NetworkClient/Configuration/defaultHeaders`` stay away, and so do the credentials of
    /// ``NetworkClient/Configuration/authorize(with:alsoAt:)``: they are meant for that origin alone.
    /// The endpoint's own header fields are sent in any case, and
    /// ``NetworkClient/Configuration/pins`` hold for every address.
    ///
    /// A call fails with ``NetworkError/Code/invalidURL`` unless the URL is absolute, begins with
    /// `http` or `https` and has no user information.
    public static func url(_ url: URL) -> EndpointPath { EndpointPath(absolute: url) }

    private init(absolute url: URL) { content = .absolute(url) }

    /// Creates a path of segments, each of which may hold any text.
    public init(segments: [String]) {
        let isComplete = segments.allSatisfy { !$0.isEmpty }
        self.init(
            encoded: isComplete
                ? segments.map { PercentEncoding.encode($0) }.joined(separator: "/") : nil
        )
    }

    /// Dot segments are resolved away by servers and proxies, also when their dots are encoded
    /// (RFC 3986 section 5.2.4 and 6.2.2.2), so no path may hold one.
    private static func isSafe(_ path: String) -> Bool {
        var segment = DotSegment()
        for byte in path.utf8 {
            if byte != UInt8(ascii: "/") {
                segment.read(byte)
            } else if segment.isOne {
                return false
            } else {
                segment = DotSegment()
            }
        }
        return !segment.isOne
    }

    /// Finds out, byte by byte, whether a segment is one dot or two, encoded or not.
    private struct DotSegment {
        private var dots = 0
        /// How many bytes of `%2e` were read.
        private var encoded = 0
        private var hasOther = false

        var isOne: Bool { !hasOther && encoded == 0 && (dots == 1 || dots == 2) }

        mutating func read(_ byte: UInt8) {
            switch (encoded, byte) {
            case (0, UInt8(ascii: ".")): dots += 1
            case (0, UInt8(ascii: "%")), (1, UInt8(ascii: "2")): encoded += 1
            case (2, UInt8(ascii: "e")), (2, UInt8(ascii: "E")): (dots, encoded) = (dots + 1, 0)
            default: hasOther = true
            }
        }
    }
}

extension EndpointPath: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        self.init(encoded: PercentEncoding.encodePath(value))
    }

    public init(stringInterpolation: StringInterpolation) {
        self.init(encoded: stringInterpolation.encoded)
    }

    /// Collects the literal text and the values of a path.
    ///
    /// There is no overload for an optional: its text would be "Optional(…)".
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var encoded: String?

        public init(literalCapacity: Int, interpolationCount: Int) {
            encoded = ""
        }

        public mutating func appendLiteral(_ literal: String) {
            append(PercentEncoding.encodePath(literal))
        }

        /// Adds a value that stays inside its segment.
        public mutating func appendInterpolation(_ value: some StringProtocol) {
            append(value.isEmpty ? nil : PercentEncoding.encode(value))
        }

        /// Adds a number or another value that is written as it is read.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Adds the text of an enumeration's case or of a typed identifier.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: StringProtocol {
            appendInterpolation(value.rawValue)
        }

        /// Adds a UUID in its usual form, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        // A literal's percent sign and an interpolated value must not meet in one triplet: every
        // part is encoded by itself, and a part that cannot be makes the whole path unusable.
        private mutating func append(_ part: String?) {
            guard let part else {
                encoded = nil
                return
            }
            encoded?.append(part)
        }
    }
}
