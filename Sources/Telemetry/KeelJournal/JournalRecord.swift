/// A position in a journal.
///
/// Records that one ``Journal`` appends have increasing positions. Records of journals that write to the same folder
/// concurrently are ordered by when their segments were created.
public struct JournalPosition: Hashable, Comparable, Sendable {
    /// The number of the segment.
    public let segment: UInt64
    /// The record's offset in the segment in bytes.
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
    /// The record's position, for ``JournalConsumer/acknowledge(_:)``.
    public let position: JournalPosition
    /// The time when the record was appended, in microseconds since 1970.
    public let time: Int64
    /// The bytes.
    public let bytes: [UInt8]
}
