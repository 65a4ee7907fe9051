/// Builds a path from a literal with values in it, keeping each value inside one segment.
///
/// Only the “/” of the literal's own text separates segments. A value that contains one makes a
/// segment that no store accepts, so it can never name another document than the one meant.
public struct PathInterpolation: StringInterpolationProtocol, Sendable {
    package private(set) var segments = [""]

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) {
        let slash = UInt8(ascii: "/")
        var parts = literal.utf8.split(separator: slash, omittingEmptySubsequences: false)[...]
        if let first = parts.popFirst() { append(String(Substring(first))) }
        segments.append(contentsOf: parts.map { String(Substring($0)) })
    }

    /// Puts a value into the current segment.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
        append(value.description)
    }

    private mutating func append(_ text: String) {
        segments[segments.count - 1] += text
    }
}

/// The order of paths: segment by segment, each by its UTF-8 bytes.
package enum PathOrder {
    /// Whether `left` comes first.
    ///
    /// A “/” sorts before every byte, so that `a/b` precedes `a!/b`.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lazy.map(rank).lexicographicallyPrecedes(right.utf8.lazy.map(rank))
    }

    private static func rank(_ byte: UInt8) -> UInt16 {
        byte == UInt8(ascii: "/") ? 0 : UInt16(byte) + 1
    }
}
