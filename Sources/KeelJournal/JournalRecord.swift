/// A place in a journal.
///
/// Records that one process has appended have growing positions. Those of two processes that write
/// at the same time are ordered by when their segments were begun.
public struct JournalPosition: Hashable, Comparable, Sendable {
    /// The number of the segment.
    public let segment: UInt64
    /// Where the record begins in it, in bytes.
    public let offset: Int

    /// Creates a position.
    public init(segment: UInt64, offset: Int) {
        self.segment = segment
        self.offset = offset
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }
}

/// A record as it was appended.
public struct JournalRecord: Hashable, Sendable {
    /// Where it is; what ``JournalConsumer/settle(_:)`` takes.
    public let position: JournalPosition
    /// When it was appended, in microseconds since 1970.
    public let time: Int64
    /// Its bytes.
    public let bytes: [UInt8]
}
