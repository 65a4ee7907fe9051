internal import KeelCore

/// A segment that is open; a reader that holds it goes on reading after the file was removed.
final class SegmentHandle: Sendable {
    let number: UInt32
    let id: UInt64
    let file: any OpenFile

    /// Takes over an open file.
    init(number: UInt32, id: UInt64, file: any OpenFile) {
        self.number = number
        self.id = id
        self.file = file
    }
}

/// What the index knows of a segment.
struct SegmentState: Sendable {
    let number: UInt32
    let id: UInt64
    let firstSequence: UInt64
    /// The length of the file.
    var byteCount: Int
    /// How many slots mean records of this segment.
    var liveCount = 0
    /// Whether it holds removals, or removes everything before.
    var hasRemovals = false
    /// The open file, while it is.
    var handle: SegmentHandle?
}
