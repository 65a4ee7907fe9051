internal import KeelCore
public import KeelDocuments
public import KeelStorageAdapting
internal import Synchronization

/// An adapter that keeps documents in memory, for tests and previews.
///
/// It offers all capabilities, `StorageCapabilities/pointInTimeReads` only with a history, and answers every query by
/// scanning its collections. It recognizes a repeated batch by its id for at least seven days.
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
    ///   - clock: The clock for the waits of change requests, and the ages of the history and of receipts.
    ///   - changeLogCapacity: The minimum number of changes that the log keeps; older cursors expire.
    ///   - history: The minimum age up to which past states can be read; nil or zero keeps no history.
    ///   - now: Returns the time of day, for the times of documents.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        changeLogCapacity: Int = 100_000,
        history: Duration? = nil,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.clock = clock
        timeline = Timeline(clock)
        held = HeldStates(clock: clock)
        self.now = now
        let history = history.flatMap { $0 > .zero ? MemoryHistory(age: $0) : nil }
        keepsHistory = history != nil
        state = Mutex(MemoryState(changeLogCapacity: max(1, changeLogCapacity), history: history))
    }

    public var capabilities: StorageCapabilities {
        let always: StorageCapabilities = [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .textSearch, .checkedReads,
            .heldReads, .origins, .queryChanges,
        ]
        return keepsHistory ? always.union(.pointInTimeReads) : always
    }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        state.withLock { $0.add(schema) }
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try checkCancellation()
        guard let time = request.asOf else {
            // Queries run on a copy, so that a long one does not block writers. Reading a few documents is faster
            // than the wait it causes.
            if case .documents = request.operation, request.holdDuration == nil,
                request.reads == nil
            {
                return try state.withLock { state throws(StorageError) in try state.answer(request)
                }
            }
            let state = state.withLock { $0 }
            guard let duration = request.holdDuration else { return try state.answer(request) }
            var request = request
            request.needsTime = true
            var result = try state.answer(request)
            if let time = result.time, !held.hold(state, at: time, for: duration), !keepsHistory {
                result.time = nil
            }
            return result
        }
        let result = try held.read(at: time, holdingFor: request.holdDuration) {
            state throws(StorageError) in try state.answer(request)
        }
        if let result { return result }
        if held.hasEnded(time), !keepsHistory { throw .snapshotTooOld(time) }
        // On a copy, so that going back in time does not block writers.
        let now = now()
        let present = state.withLock { $0 }
        return try present.asOf(time, now: now).answer(request)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try checkCancellation()
        let (time, age) = (now(), timeline.now)
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
        if let query = request.query {
            return try await LoggedResult(query, of: self).page(request)
        }
        let generation = signal.generation
        let page = try state.withLock { state throws(StorageError) in try state.changes(request) }
        guard page.changes.isEmpty, page.isCaughtUp, let limit = request.waitTimeout else {
            return page
        }
        await signal.wait(since: generation, upTo: limit, on: clock)
        // A change outside of the scope wakes the request too. The empty page with an advanced cursor is harmless,
        // and keeps the wait within its limit.
        try checkCancellation()
        return try state.withLock { state throws(StorageError) in try state.changes(request) }
    }

    private func checkCancellation() throws(StorageError) {
        if Task.isCancelled { throw .cancellation }
    }
}
