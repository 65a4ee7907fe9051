/// A position in a store's change log.
///
/// Its bytes are the adapter's own, with one promise to readers: of two positions that the same
/// store gave out, the later one does not have the lower bytes. Listeners use that to tell whether
/// a page of changes reaches beyond what they have read.
public struct ChangeCursor: Hashable, Comparable, Sendable {
    /// The position, in a form that only the adapter that made it understands.
    public let bytes: [UInt8]

    /// Creates a cursor from an adapter's bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
