/// The version of one document.
///
/// The revisions of a document only increase, even if it is deleted and created again, so that the later of two states
/// is known. They do not count the writes in between.
public struct Revision: Hashable, Comparable, Sendable {
    /// The revision as a positive number.
    public let number: Int64

    /// Creates a revision from an adapter's own records.
    public init(number: Int64) { self.number = number }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension Revision: CustomStringConvertible {
    public var description: String { "\(number)" }
}
