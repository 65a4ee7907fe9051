internal import KeelCore
public import KeelDocuments
public import KeelStorageAdapting

/// An adapter that copies what is written to a second store, and compares what both answer.
///
/// It is for moving to another backend step by step: the app goes on with the store that it has,
/// and the new one is watched doing the same work. When nothing has differed for long enough, the
/// composition root names the new store alone.
///
/// ```swift
/// let storage = StorageClient(
///     firestore.mirrored(to: sqlite) { event in logger.warning("\(event)") }
/// )
/// ```
///
/// - The first store has the last word: its answers and errors are the app's. Whatever happens in
///   the mirror is told to the observer and fails no call.
/// - After a commit, what has changed in the first store is written to the mirror as it is then, by one
///   call at a time: concurrent commits cannot leave the mirror with an older state. Where both stores
///   replicate, times and revisions are kept. A document that the mirror could not take for a passing
///   reason, or because the caller cancelled, is tried again with the next commit.
/// - A process may be killed at any moment. The next one copies with its first call what was not copied.
///   It finds these documents in the first store's change log, behind a cursor that is kept in the
///   mirror. If the first store has no log, as Google's Firestore, it finds them by notes that are
///   written to the mirror before each commit. If neither the cursor nor the note can be written, the
///   observer gets ``MirrorEvent/notKept(_:)``; if the log does not reach back to the cursor,
///   ``MirrorEvent/isBehind(_:)``.
/// - While the mirror is away, the names of up to 10,000 documents are kept in memory. More are found in
///   the first store's change log; if it has none, the observer gets ``MirrorEvent/isBehind(_:)``.
/// - A part of the reads is repeated on the mirror. A difference is looked at twice, so that a write
///   in between is not taken for one; bodies and order count, times and revisions do not.
/// - Changes come from the first store.
///
/// Documents that were stored before are not copied: `keel documents copy` does that, and is to be
/// run once more after one of these two events. One process at a time mirrors a store. Each
/// mirrored commit costs a read and two commits to the mirror more, each compared read a read more,
/// and the caller waits for them.
public struct MirroredStorageAdapter<Primary: StorageAdapter, Mirror: StorageAdapter>:
    StorageAdapter
{
    let primary: Primary
    let mirror: Mirror
    private let comparedShare: Double
    let observer: @Sendable (MirrorEvent) -> Void
    let ledger = MirrorLedger()
    /// What outlives the process; nil where neither store can keep it.
    let record: MirrorRecord?

    /// Creates the decorator; `adapter.mirrored(to:)` is the usual way.
    ///
    /// - Parameters:
    ///   - primary: The store that the app works with.
    ///   - mirror: The store that gets the same writes.
    ///   - name: The mirror's name, another one for each mirror of a store.
    ///   - comparedShare: Which part of the reads is compared, from 0 to 1.
    ///   - observer: Is told of differences and failures; it must not call the store.
    init(
        _ primary: Primary,
        to mirror: Mirror,
        name: String,
        comparedShare: Double,
        observer: @escaping @Sendable (MirrorEvent) -> Void
    ) {
        self.primary = primary
        self.mirror = mirror
        self.comparedShare = comparedShare
        self.observer = observer
        record = MirrorRecord(name, primary, mirror)
    }

    public var capabilities: StorageCapabilities { primary.capabilities }

    /// How many documents the mirror has not got in their last state, as far as their names are kept.
    ///
    /// If the mirror is away for more than 10,000 documents, those that the first store's change log tells
    /// of are not counted.
    public var waitingCount: Int { ledger.count }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await primary.prepare(schema)
        do throws(StorageError) {
            try await mirror.prepare(schema)
        } catch {
            observer(.preparationFailed(error))
        }
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await primary.changes(request)
    }

    // MARK: Writing

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let paths = Set(batches.flatMap { $0.writes.filter(\.changesDocument).map(\.path) })
        // No read is compared while the commit takes effect. An error changes nothing about what is
        // to be copied: the outcome can be unknown, or that of some batches only.
        try await open()
        let note = await note(paths)
        ledger.beginCommit()
        do throws(StorageError) {
            let results = try await primary.commit(batches)
            await end(paths, note)
            return results
        } catch {
            await end(paths, note)
            throw error
        }
    }

    private func end(_ paths: Set<DocumentPath>, _ note: DocumentPath?) async {
        if ledger.endCommit(paths, note) { observer(.isBehind(.tooManyWait)) }
        await copy()
    }

    // MARK: Reading

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        if ledger.isFirstRead() {
            try await open()
            await copy()
        }
        let result = try await primary.read(request)
        // The mirror has times of commits of its own, and so another past.
        guard request.asOf == nil else { return result }
        let isCompared = comparedShare >= 1 || Double.random(in: 0..<1) < comparedShare
        if isCompared, let stillness = ledger.stillness {
            await compare(result.payload, request.operation, since: stillness)
        }
        return result
    }

    private func compare(
        _ answer: ReadResult.Payload,
        _ operation: ReadOperation,
        since stillness: UInt64
    ) async {
        let request = ReadRequest(operation)
        do throws(StorageError) {
            let mirrored = try await mirror.read(request).payload
            guard !answer.says(mirrored) else { return }
            // A write may have come in between: only an answer that stands can differ.
            let again = try await primary.read(request).payload
            let mirroredAgain = try await mirror.read(request).payload
            guard again.says(answer), !again.says(mirroredAgain), ledger.stillness == stillness
            else { return }
            observer(.differs(operation, again.differences(from: mirroredAgain)))
        } catch {
            guard !error.isCancellation, error.code != .unsupported else { return }
            observer(.readFailed(operation, error))
        }
    }
}

extension StorageAdapter {
    /// Copies what is written to a second store, and compares what both answer.
    ///
    /// See ``MirroredStorageAdapter``.
    ///
    /// - Parameters:
    ///   - mirror: The store that gets the same writes.
    ///   - name: The name under which the stores remember what the mirror has: the same in each process,
    ///     another one for each mirror of a store. It can be a document's id, of 80 bytes at most.
    ///   - comparedShare: Which part of the reads is compared, from 0 to 1.
    ///   - observer: Is told of differences and failures; it must not call the store.
    /// - Returns: The decorated adapter.
    public func mirrored<Mirror: StorageAdapter>(
        to mirror: Mirror,
        name: String = "mirror",
        comparedShare: Double = 1,
        observer: @escaping @Sendable (MirrorEvent) -> Void
    ) -> MirroredStorageAdapter<Self, Mirror> {
        MirroredStorageAdapter(
            self,
            to: mirror,
            name: name,
            comparedShare: comparedShare,
            observer: observer
        )
    }
}
