internal import KeelCore
internal import Synchronization

/// The limits that all streams of one caller share.
///
/// Each stream has its ``ListenShare`` as well, so that a slow client leaves room to the caller's others.
final class ListenCaller: Sendable {
    /// Nil for the unknown caller of one stream.
    let id: CallerID?
    /// Admits the caller's reads of queries, of ten or more documents, and of the log: half of all, until the store
    /// answers.
    let reads = TaskQueue(admitting: ListenHub.mostReads / 2)
    /// Admits reads of a few documents, which do not wait for queries.
    let smallReads = TaskQueue(admitting: 32)
    /// The size of what has been read for the caller and not sent yet, and of the changes that its streams keep, in
    /// bytes.
    let held: ByteCount
    /// The approximate limit of ``held``, in bytes.
    private let mostBytes: Int
    private let holds = Mutex(0)

    init(_ id: CallerID? = nil, in hub: ListenHub) {
        self.id = id
        held = ByteCount(in: hub.waiting)
        mostBytes = hub.mostWaitingBytes / 2
    }

    /// The number of bytes that may still be read for the caller; negative above the limit.
    var room: Int { mostBytes - held.value }

    /// Returns whether more than the limit is held, apart from some bytes.
    func isFull(besides bytes: Int) -> Bool { held.value - bytes > mostBytes }

    /// Returns whether the store may hold another state for the caller, which has half of them.
    func beginHold() -> Bool {
        holds.withLock { holds in
            guard holds < ListenHub.mostHolds / 2 else { return false }
            holds += 1
            return true
        }
    }

    func endHold() { holds.withLock { $0 -= 1 } }
}
