internal import KeelCore

/// The limits of one stream's reads, and of the data that it holds for its client.
struct ListenShare: Sendable {
    let caller: ListenCaller
    /// Admits reads of queries and of changes, until the client has taken the documents.
    let loads = TaskQueue(admitting: ListenHub.mostReads / 2)
    /// Admits reads of a few documents, which do not wait for queries.
    let smallLoads = TaskQueue(admitting: 32)
    /// Admits repetitions of reads that found more than the stream may hold, one at a time.
    let repetitions = TaskQueue()
    /// Admits reads for which the store holds a state, up to half of all.
    let holds = TaskQueue(admitting: ListenHub.mostHolds / 2)
    /// The approximate maximum size of documents that are read and not sent, besides one larger read, and of the
    /// changes that the stream keeps, in bytes.
    let mostBytes: Int
    /// The size of the documents that have been read for the client and not sent yet, in bytes.
    let unsent: ByteCount
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
