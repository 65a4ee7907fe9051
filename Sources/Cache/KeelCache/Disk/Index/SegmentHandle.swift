internal import KeelCore

/// An open segment; its holder can read it even after the file was removed.
final class SegmentHandle: Sendable {
    let number: UInt32
    let id: UInt64
    let file: any OpenFile

    init(number: UInt32, id: UInt64, file: any OpenFile) {
        self.number = number
        self.id = id
        self.file = file
    }
}

struct SegmentState: Sendable {
    let number: UInt32
    let id: UInt64
    let firstSequence: UInt64
    var byteCount: Int
    /// The number of slots that refer to records of this segment.
    var liveCount = 0
    /// Whether it holds removals, or removes everything before.
    var hasRemovals = false
    var handle: SegmentHandle?
}
