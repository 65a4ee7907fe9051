/// The path of a document, such as `restaurants/30075445`.
///
/// In a literal, an interpolated value stays inside one segment, whatever it contains:
///
/// ```swift
/// let path: DocumentPath = "users/\(userID)/favourites/\(restaurantID)"
/// ```
///
/// A valid path has an even number of nonempty segments, at most 200, of at most 1,500 bytes. None is `.`, `..` or of
/// the form `__…__`. A call with an invalid path throws ``StorageError/Code/invalidArgument``.
public struct DocumentPath: Sendable {
    /// The collection that contains the document.
    public let collection: CollectionPath
    /// The document's id within the collection.
    public let id: String

    package let flaw: String?

    private init(collection: CollectionPath, id: String, flaw: String?) {
        self.collection = collection
        self.id = id
        self.flaw = flaw
    }

    /// Creates the path of a document in a collection.
    public init(_ collection: CollectionPath, _ id: String) {
        let flaw = StoredName.flaw(inSegment: id, allowingReserved: true)
            .map { "the id “\(id)” in “\(collection)” \($0)" }
        self.init(collection: collection, id: id, flaw: collection.flaw ?? flaw)
    }

    /// Creates a path from text, treating each “/” as a separator.
    public init(_ string: String) {
        let slash = UInt8(ascii: "/")
        let segments = string.utf8.split(separator: slash, omittingEmptySubsequences: false)
        self.init(segments: segments.map { String(Substring($0)) })
    }

    package init(segments: [String]) {
        guard segments.count > 1, segments.count % 2 == 0, let id = segments.last else {
            let string = segments.joined(separator: "/")
            let flaw = "“\(string)” names a collection, not a document"
            self.init(collection: CollectionPath(trusted: string), id: "", flaw: flaw)
            return
        }
        self.init(CollectionPath(segments: segments.dropLast()), id)
    }

    /// Creates a path from an adapter's own records, without validation.
    package init(trusted string: String) {
        let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) ?? string.startIndex
        collection = CollectionPath(trusted: String(string[..<slash]))
        // By bytes: the slash and a mark that begins the id are one character.
        id = String(Substring(string.utf8[slash...].dropFirst()))
        flaw = nil
    }

    /// Creates a path from an adapter's own records, without validation.
    package init(trusted collection: CollectionPath, id: String) {
        self.collection = collection
        self.id = id
        flaw = nil
    }

    /// The segments, joined by “/”.
    public var string: String { "\(collection.string)/\(id)" }

    /// Returns the path of a collection within this document.
    public func collection(_ name: String) -> CollectionPath {
        CollectionPath(segments: StoredName.segments(of: string) + [name])
    }
}

extension DocumentPath: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        StoredName.same(left.id, right.id) && left.collection == right.collection
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(collection)
    }
}

extension DocumentPath: Comparable {
    /// Orders paths segment by segment, by their UTF-8 bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.collection == right.collection
            ? StoredName.precedes(left.id, right.id)
            : PathOrder.precedes(left.string, right.string)
    }
}

extension DocumentPath: CustomStringConvertible {
    public var description: String { string }
}

extension DocumentPath: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }

    public init(stringInterpolation: PathInterpolation) {
        self.init(segments: stringInterpolation.segments)
    }
}

extension DocumentPath {
    /// Returns a new id of 20 random letters and digits (119 bits).
    public static func randomID() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<20).compactMap { _ in alphabet.randomElement() })
    }
}

/// An interpolation that builds a path and keeps each value inside one segment.
///
/// Only a “/” in the literal's own text separates segments. A value with a “/” makes the path invalid, so that no value
/// can select another document than intended.
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

package enum PathOrder {
    /// Returns whether a path precedes another, segment by segment: `a/b` precedes `a!/b`.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lazy.map(rank).lexicographicallyPrecedes(right.utf8.lazy.map(rank))
    }

    private static func rank(_ byte: UInt8) -> UInt16 {
        byte == UInt8(ascii: "/") ? 0 : UInt16(byte) + 1
    }
}
