/// The place of a collection, such as `restaurants` or `users/ada/favourites`.
///
/// A path has an odd number of segments: collection, or collection, id, collection, and so on.
/// Write it as a literal; an interpolated value stays inside one segment, whatever it contains:
///
/// ```swift
/// let favourites: CollectionPath = "users/\(userID)/favourites"
/// ```
///
/// A path that breaks a rule can be made, so that literals stay simple, and is refused with
/// ``StorageError/Code/invalidArgument`` by the first call that uses it.
public struct CollectionPath: Sendable {
    /// The path's segments joined by “/”.
    public let string: String

    /// What is wrong with the path; nil for a good one.
    package let flaw: String?

    /// Creates a path from text, taking each “/” as a separator.
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

    /// Creates a path whose segments an adapter has read from its own records.
    package init(trusted string: String) {
        self.string = string
        flaw = nil
    }

    /// The collection's own name: the last segment, which collection-group queries match.
    public var name: String {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return string }
        return String(string[string.utf8.index(after: slash)...])
    }

    /// The document that this collection belongs to, nil at the top level.
    public var parent: DocumentPath? {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return DocumentPath(trusted: String(string[..<slash]))
    }

    /// Whether a name of the form `__…__` is on the path.
    package var hasReservedSegment: Bool {
        // Most paths have no underscores side by side: look for them before taking one apart.
        let underscore = UInt8(ascii: "_")
        guard
            zip(string.utf8, string.utf8.dropFirst())
                .contains(where: { $0 == underscore && $1 == underscore })
        else { return false }
        return string.utf8.split(separator: UInt8(ascii: "/"))
            .contains { StoredName.isReserved(String(Substring($0))) }
    }

    /// The path of a document in this collection.
    public func document(_ id: String) -> DocumentPath { DocumentPath(self, id) }

    /// The most collections on the way to a document, as in Firestore.
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
