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
/// A path can also be written as a URI template, see `init(template:_:)`.
public struct EndpointPath: Sendable, Hashable {
    /// What became of the text.
    enum Content: Sendable, Hashable {
        /// The encoded path without its leading slash, and the encoded query that it brings.
        case usable(path: String, query: String)
        /// Why the client must refuse the path.
        case refused(String)
    }

    let content: Content

    init(encoded: String?, query: String = "") {
        if let encoded, Self.isSafe(encoded) {
            content = .usable(path: String(encoded.drop { $0 == "/" }), query: query)
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

    /// The encoded path and the query that it brings; nil for a path that a client refuses.
    package var encodedForm: (path: String, query: String)? {
        guard case .usable(let path, let query) = content else { return nil }
        return (path, query)
    }

    init(refusedFor reason: String) {
        content = .refused(reason)
    }

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
        path.split(separator: "/").allSatisfy { segment in
            let plain = segment.lowercased().split(
                separator: "%2e",
                omittingEmptySubsequences: false
            )
            .joined(separator: ".")
            return plain != "." && plain != ".."
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
