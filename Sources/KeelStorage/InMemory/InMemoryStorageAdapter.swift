internal import KeelCore
public import KeelDocuments
public import KeelStorageAdapting
internal import Synchronization

/// An adapter that keeps documents in memory, for tests and previews.
///
/// It offers all that an adapter can offer but durability, and answers every query by looking at
/// every document of the collection. What it holds is gone with it.
public final class InMemoryStorageAdapter: StorageAdapter {
    private let state: Mutex<MemoryState>
    private let held: HeldStates<MemoryState>
    private let signal = Signal()
    private let keepsHistory: Bool
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let now: @Sendable () -> Timestamp

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - clock: The clock on which a request for changes waits, and by which the history grows old.
    ///   - keptChanges: How many changes the log keeps; older cursors expire.
    ///   - history: How far back documents can be read as they were; nil and zero keep no history.
    ///   - now: The wall clock's time, right or wrong, which documents get.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        keptChanges: Int = 100_000,
        history: Duration? = nil,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.clock = clock
        timeline = Timeline(clock)
        held = HeldStates(clock: clock)
        self.now = now
        let history = history.flatMap { $0 > .zero ? MemoryHistory(age: $0) : nil }
        keepsHistory = history != nil
        state = Mutex(MemoryState(keptChanges: max(1, keptChanges), history: history))
    }

    public var capabilities: StorageCapabilities {
        let always: StorageCapabilities = [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .textSearch, .checkedReads,
            .heldReads, .origins,
        ]
        return keepsHistory ? always.union(.pointInTimeReads) : always
    }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        state.withLock { $0.add(schema) }
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try checkCancellation()
        guard let time = request.asOf else {
            // Of a copy, so that a long query does not hold up those who write meanwhile. A few documents
            // are found sooner than others have to wait.
            if case .documents = request.operation, request.heldFor == nil, request.reads == nil {
                return try state.withLock { state throws(StorageError) in try state.answer(request)
                }
            }
            let state = state.withLock { $0 }
            guard let duration = request.heldFor else { return try state.answer(request) }
            var request = request
            request.needsTime = true
            var result = try state.answer(request)
            if let time = result.time, !held.hold(state, at: time, for: duration), !keepsHistory {
                result.time = nil
            }
            return result
        }
        if let state = held.state(at: time) {
            if let duration = request.heldFor { held.extend(at: time, for: duration) }
            return try state.answer(request)
        }
        if held.hasEnded(time), !keepsHistory { throw .snapshotTooOld(time) }
        // On a copy, so that going back does not hold up those who write meanwhile for long.
        let now = now()
        let present = state.withLock { $0 }
        return try present.asOf(time, now: now).answer(request)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try checkCancellation()
        let (time, age) = (now(), keepsHistory ? timeline.now : .zero)
        let results = state.withLock { state in
            batches.map { batch in
                Result { () throws(StorageError) in try state.apply(batch, at: time, age: age) }
            }
        }
        signal.raise()
        return results
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try checkCancellation()
        let generation = signal.generation
        let page = try state.withLock { state throws(StorageError) in try state.changes(request) }
        guard page.changes.isEmpty, page.isCaughtUp, let limit = request.waitsUpTo else {
            return page
        }
        await signal.wait(since: generation, upTo: limit, on: clock)
        // A change outside of the scope wakes the request too; it then answers with an empty page
        // that has moved on, which does no harm and keeps the wait within its limit.
        try checkCancellation()
        return try state.withLock { state throws(StorageError) in try state.changes(request) }
    }

    private func checkCancellation() throws(StorageError) {
        if Task.isCancelled { throw .cancellation }
    }
}
