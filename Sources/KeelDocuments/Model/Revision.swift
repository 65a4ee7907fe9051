/// The version of one document.
///
/// Revisions of a document only grow, also when it is deleted and created again, so that of two
/// states the later one can be told. They say nothing about *how many* writes lie between them.
public struct Revision: Hashable, Comparable, Sendable {
    /// The revision as a number; positive.
    public let number: Int64

    /// Creates a revision that an adapter has read from its own records.
    public init(number: Int64) { self.number = number }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension Revision: CustomStringConvertible {
    public var description: String { "\(number)" }
}
