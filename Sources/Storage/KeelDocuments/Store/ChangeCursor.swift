/// A position in a store's change log.
///
/// The bytes belong to the adapter, with one guarantee for readers: of two positions from the same store, the later one
/// never compares lower. Listeners use this order to tell whether a page of changes goes beyond what they have read.
public struct ChangeCursor: Hashable, Comparable, Sendable {
    /// The position, in a form that only the adapter that created it understands.
    public let bytes: [UInt8]

    /// Creates a cursor from an adapter's bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
