/// The path of a collection, such as `restaurants` or `users/ada/favourites`.
///
/// In a literal, an interpolated value stays inside one segment, whatever it contains:
///
/// ```swift
/// let favourites: CollectionPath = "users/\(userID)/favourites"
/// ```
///
/// A path has an odd number of segments: names of collections and ids of documents in turn. A call with an invalid path
/// throws ``StorageError/Code/invalidArgument``.
public struct CollectionPath: Sendable {
    /// The segments, joined by “/”.
    public let string: String

    /// The path's error; nil if it is valid.
    package let flaw: String?

    /// Creates a path from text, treating each “/” as a separator.
    public init(_ string: String) {
        let slash = UInt8(ascii: "/")
        let segments = string.utf8.split(separator: slash, omittingEmptySubsequences: false)
        self.init(string: string, segments: segments.map { Substring($0) })
    }

    package init(segments: [String]) {
        self.init(string: segments.joined(separator: "/"), segments: segments)
    }

    private init<Segment: StringProtocol>(string: String, segments: [Segment]) {
        self.string = string
        flaw = Self.flaw(of: string, in: segments)
    }

    /// Creates a path from an adapter's own records, without validation.
    package init(trusted string: String) {
        self.string = string
        flaw = nil
    }

    /// The collection's name: the last segment, which collection-group queries match.
    public var name: String {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return string }
        return String(string[string.utf8.index(after: slash)...])
    }

    /// The document that the collection belongs to; nil at the top level.
    public var parent: DocumentPath? {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return DocumentPath(trusted: String(string[..<slash]))
    }

    /// Whether a segment of the path has the form `__…__`.
    package var hasReservedSegment: Bool {
        // Splitting the path is needed only if it has two adjacent underscores.
        let underscore = UInt8(ascii: "_")
        guard
            zip(string.utf8, string.utf8.dropFirst())
                .contains(where: { $0 == underscore && $1 == underscore })
        else { return false }
        return StoredName.segments(of: string).contains(where: StoredName.isReserved)
    }

    /// The path with `*` in place of each id.
    package var anonymousName: String {
        string.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .enumerated()
            .map { $0.offset % 2 == 0 ? String(Substring($0.element)) : "*" }
            .joined(separator: "/")
    }

    /// Returns the path of a document in this collection.
    public func document(_ id: String) -> DocumentPath { DocumentPath(self, id) }

    private static let deepest = 100

    private static func flaw<Segment: StringProtocol>(of string: String, in segments: [Segment])
        -> String?
    {
        guard segments.count % 2 == 1 else {
            return "“\(string)” names a document, not a collection"
        }
        guard segments.count < 2 * deepest else {
            return "“\(string.prefix(40))…” lies in more than \(deepest) collections"
        }
        return segments.lazy.compactMap { segment -> String? in
            StoredName.flaw(inSegment: String(segment), allowingReserved: true)
                .map { "a segment of the collection path “\(string)” \($0)" }
        }.first
    }
}

extension CollectionPath: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        StoredName.same(left.string, right.string)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension CollectionPath: Comparable {
    /// Orders paths segment by segment, by their UTF-8 bytes.
    public static func < (left: Self, right: Self) -> Bool {
        PathOrder.precedes(left.string, right.string)
    }
}

extension CollectionPath: CustomStringConvertible {
    public var description: String { string }
}

extension CollectionPath: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }

    public init(stringInterpolation: PathInterpolation) {
        self.init(segments: stringInterpolation.segments)
    }
}
