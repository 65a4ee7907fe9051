internal import KeelCore
internal import Synchronization

/// The limits that all streams of one caller share, so that a caller with many streams leaves room to others.
///
/// Each stream has its ``ListenShare`` besides: one whose client takes nothing leaves room to the caller's others.
final class ListenCaller: Sendable {
    /// The id; nil for the unknown caller of one stream.
    let id: CallerID?
    /// Admits some of the reads of queries, of ten or more documents, and of the log.
    ///
    /// Half of the reads of all streams are left to others. A read ends with the answer of the store, however long the
    /// client takes the documents.
    let reads = TaskQueue(admitting: ListenHub.mostReads / 2)
    /// Admits some of the reads of a few documents, which do not wait for queries.
    let smallReads = TaskQueue(admitting: 32)
    /// The size of what has been read for the caller, and not sent yet, and of the changes that its streams keep, in
    /// bytes.
    let held: ByteCount
    /// The approximate size above which more is held than should, in bytes.
    private let mostBytes: Int
    private let holds = Mutex(0)

    /// Creates a caller without streams.
    init(_ id: CallerID? = nil, in hub: ListenHub) {
        self.id = id
        held = ByteCount(in: hub.waiting)
        mostBytes = hub.mostWaitingBytes / 2
    }

    /// The size of what may still be read for the caller, in bytes; negative if more is held than should.
    var room: Int { mostBytes - held.value }

    /// Returns whether more is held than should, apart from so many bytes.
    func isFull(besides bytes: Int) -> Bool { held.value - bytes > mostBytes }

    /// Returns whether the store may hold another state for the caller, which leaves half of them to others.
    func beginHold() -> Bool {
        holds.withLock { holds in
            guard holds < ListenHub.mostHolds / 2 else { return false }
            holds += 1
            return true
        }
    }

    func endHold() { holds.withLock { $0 -= 1 } }
}
