internal import KeelCore

/// The limits of one stream's reads, and of the data that it holds for its client, so that a slow client leaves room to
/// others.
///
/// The streams of one caller keep to the limits of ``ListenCaller`` together.
struct ListenShare: Sendable {
    let caller: ListenCaller
    /// Admits some of the reads of queries and of changes, with the documents that the client has not taken.
    let loads = TaskQueue(admitting: ListenHub.mostReads / 2)
    /// Admits some of the reads of a few documents, which do not wait for queries.
    let smallLoads = TaskQueue(admitting: 32)
    /// Admits one of the reads that have found more than the stream may hold, and are repeated.
    let repetitions = TaskQueue()
    /// Admits some of the reads for which the store holds a state, and leaves the other states to others.
    let holds = TaskQueue(admitting: ListenHub.mostHolds / 2)
    /// The approximate maximum size of documents that are read and not sent, besides one larger read, and of the
    /// changes that the stream keeps, in bytes.
    ///
    /// Of 256 MiB, a slow client leaves at least half.
    let mostBytes: Int
    /// The size of the documents that have been read for the client and not sent yet, in bytes.
    let unsent: ByteCount
    /// Raised when the client has taken some of that.
    private let taken = Signal()

    init(of caller: ListenCaller, in hub: ListenHub) {
        self.caller = caller
        mostBytes = hub.mostWaitingBytes / 8
        unsent = ByteCount(in: caller.held, dropped: taken)
    }

    /// Waits until the client has taken everything, or the task is canceled.
    func waitUntilTaken() async {
        while !Task.isCancelled {
            let generation = taken.generation
            guard unsent.value > 0 else { return }
            await taken.wait(since: generation)
        }
    }
}
