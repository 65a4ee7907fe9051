/// An interpolation that builds a path and keeps each value inside one segment.
///
/// Only a “/” in the literal's own text separates segments. A value that contains one creates an invalid segment, which
/// every store rejects, so a value can never select another document than intended.
public struct PathInterpolation: StringInterpolationProtocol, Sendable {
    package private(set) var segments = [""]

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) {
        let slash = UInt8(ascii: "/")
        var parts = literal.utf8.split(separator: slash, omittingEmptySubsequences: false)[...]
        if let first = parts.popFirst() { append(String(Substring(first))) }
        segments.append(contentsOf: parts.map { String(Substring($0)) })
    }

    /// Appends a value to the current segment.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
        append(value.description)
    }

    private mutating func append(_ text: String) {
        segments[segments.count - 1] += text
    }
}

/// The order of paths: segment by segment, by UTF-8 bytes.
package enum PathOrder {
    /// Returns whether `left` precedes `right`.
    ///
    /// A “/” sorts before every other byte, so that `a/b` precedes `a!/b`.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lazy.map(rank).lexicographicallyPrecedes(right.utf8.lazy.map(rank))
    }

    private static func rank(_ byte: UInt8) -> UInt16 {
        byte == UInt8(ascii: "/") ? 0 : UInt16(byte) + 1
    }
}
