import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The path of an endpoint below its client's base URL.
///
/// Write it as a string literal. An interpolated value stays inside its segment, whatever characters it contains:
///
/// ```swift
/// var path: EndpointPath { "/restaurants/\(name)/menu" }    // name = "Fish & Chips / Bar?"
/// // /restaurants/Fish%20%26%20Chips%20%2F%20Bar%3F/menu
/// ```
///
/// A call fails with ``NetworkError/Code/invalidURL`` if an interpolated value is empty or a segment is `.` or `..`,
/// because either would silently name another resource. It also fails if the literal contains a question mark, a number
/// sign, or a percent sign that begins no triplet. A query belongs in the endpoint's `query`.
///
/// A path can also be an absolute URL (``url(_:)``) or, with the library `KeelURITemplates`, a URI template.
public struct EndpointPath: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// The encoded path without its leading slash, and the encoded query that comes with it.
        case usable(path: String, query: String)
        /// A URL that is independent of the base URL.
        case absolute(URL)
        /// The reason to refuse the path.
        case refused(String)
    }

    let content: Content

    package init(encoded: String?, query: String = "") {
        if let encoded, Self.isSafe(encoded) {
            let path = encoded.utf8.drop { $0 == UInt8(ascii: "/") }
            content = .usable(path: String(Substring(path)), query: query)
        } else {
            content = .refused(
                "The path of the endpoint contains an empty value, a segment of only dots, "
                    + "a query or an invalid percent sign."
            )
        }
    }

    package init(encodedForm form: (path: String, query: String)) {
        self.init(encoded: form.path, query: form.query)
    }

    /// The encoded path and the query that comes with it; nil for a path that is refused and for an absolute URL.
    package var encodedForm: (path: String, query: String)? {
        guard case .usable(let path, let query) = content else { return nil }
        return (path, query)
    }

    package init(refusedFor reason: String) {
        content = .refused(reason)
    }

    /// Creates a path from an absolute URL, such as a link in a response.
    ///
    /// ```swift
    /// let next = try await client.get(.url(page.next), as: Page.self)
    /// ```
    ///
    /// The path and the query of the URL are sent as they are, and the endpoint's `query` is appended. The client's
    /// ``NetworkClient/Configuration/defaultHeaders`` are sent only to the origin of the base URL, and its credentials
    /// to that and the other origins of `NetworkClient.Configuration.authorize(with:alsoAt:)`. The endpoint's own
    /// header fields are always sent, and ``NetworkClient/Configuration/pins`` apply to every address.
    ///
    /// A call fails with ``NetworkError/Code/invalidURL`` unless the URL begins with `http` or `https`, has a host in
    /// ASCII and no user information.
    public static func url(_ url: URL) -> EndpointPath { EndpointPath(absolute: url) }

    private init(absolute url: URL) { content = .absolute(url) }

    /// Creates a path from segments, which can contain any text but must not be empty, `.` or `..`.
    public init(segments: [String]) {
        let isComplete = segments.allSatisfy { !$0.isEmpty }
        self.init(
            encoded: isComplete
                ? segments.map { PercentEncoding.encode($0) }.joined(separator: "/") : nil
        )
    }

    /// Servers and proxies resolve dot segments away, even encoded ones (RFC 3986 sections 5.2.4 and 6.2.2.2).
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

    /// Detects whether a segment is one or two dots, encoded or not.
    private struct DotSegment {
        private var dots = 0
        /// The number of bytes of `%2e` read.
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

    /// A collector of the literal text and the values of a path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var encoded: String?

        public init(literalCapacity: Int, interpolationCount: Int) {
            encoded = ""
        }

        public mutating func appendLiteral(_ literal: String) {
            append(PercentEncoding.encodePath(literal))
        }

        /// Appends a value that stays inside its segment.
        public mutating func appendInterpolation(_ value: some StringProtocol) {
            append(value.isEmpty ? nil : PercentEncoding.encode(String(value)))
        }

        /// Appends a number or another value with a lossless description.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Appends the raw value of an enumeration's case or of a typed identifier.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: StringProtocol {
            appendInterpolation(value.rawValue)
        }

        /// Appends a UUID in its usual form, in capitals.
        public mutating func appendInterpolation(_ value: UUID) {
            appendInterpolation(value.uuidString)
        }

        // A literal's percent sign and an interpolated value must not form a triplet together: each part is encoded
        // separately, and a part that cannot be encoded makes the whole path unusable.
        private mutating func append(_ part: String?) {
            guard let part else {
                encoded = nil
                return
            }
            encoded?.append(part)
        }
    }
}
