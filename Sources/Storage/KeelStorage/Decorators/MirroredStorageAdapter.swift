internal import KeelCore
public import KeelDocuments
public import KeelStorageAdapting

/// An adapter that copies writes to a second store, and compares the results of reads.
///
/// Use it to move to another backend under observation.
///
/// ```swift
/// let storage = StorageClient(
///     firestore.mirrored(to: sqlite) { event in logger.warning("\(event)") }
/// )
/// ```
///
/// - The app gets the first store's results and errors. Failures of the mirror go to the observer and fail no call.
/// - After a commit, the current state of the changed documents is copied to the mirror, by one call at a time. If the
///   mirror offers `StorageCapabilities/replication`, times and revisions are kept. A failed copy is retried with the
///   next commit, unless the mirror refused the document itself with a permanent error.
/// - After the process is killed, the first read or commit of the next process copies the missing changes. It finds
///   them in the first store's change log, after a stored cursor, or if there is no log, as in Google's Firestore, in
///   notes that are written to the mirror before each commit. If the cursor or the note cannot be stored, the observer
///   gets ``MirrorEvent/notKept(_:)``; if the log no longer reaches the cursor, ``MirrorEvent/isBehind(_:)``.
/// - While the mirror is unavailable, the names of up to 10,000 documents are kept in memory. Beyond that, they are
///   found in the first store's change log; without one, the observer gets ``MirrorEvent/isBehind(_:)``.
/// - A share of the reads is repeated on the mirror. Bodies and order are compared, times and revisions are not. Reads
///   of the past and of Keel's own records, such as those of an outbox, are not compared.
/// - Keel's own records are copied, but not to a mirror without a change log, such as Google's Firestore.
///
/// Existing documents are not copied: run `keel documents copy` for them, and again after ``MirrorEvent/notKept(_:)``
/// or ``MirrorEvent/isBehind(_:)``. Only one process at a time may mirror a store. A mirrored commit costs an
/// additional read and two commits to the mirror, or three if the first store has no change log; a compared read an
/// additional read. The caller waits for them.
public struct MirroredStorageAdapter<Primary: StorageAdapter, Mirror: StorageAdapter>:
    StorageAdapter
{
    let primary: Primary
    let mirror: Mirror
    private let comparisonRate: Double
    let observer: @Sendable (MirrorEvent) -> Void
    let ledger = MirrorLedger()
    let record: MirrorRecord?

    init(
        _ primary: Primary,
        to mirror: Mirror,
        name: String,
        comparisonRate: Double,
        observer: @escaping @Sendable (MirrorEvent) -> Void
    ) {
        self.primary = primary
        self.mirror = mirror
        self.comparisonRate = comparisonRate
        self.observer = observer
        record = MirrorRecord(name, primary, mirror)
    }

    public var capabilities: StorageCapabilities { primary.capabilities }

    public var sharedRecords: (any SharedRecords)? { primary.sharedRecords }

    /// The number of documents, of those that are kept by name, whose last state is missing from the mirror.
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
        // No read is compared while the commit takes effect. The documents are copied after an error too, because its
        // effect may be unknown, or concern only some batches.
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
        try checkName()
        if ledger.isFirstRead() {
            try await open()
            await copy()
        }
        let result = try await primary.read(request)
        // The mirror has commit times of its own, and therefore another past. It may also end an answer elsewhere.
        guard request.asOf == nil, request.maximumStaleness == nil, !result.isPartial,
            !request.operation.isOfOwnRecords
        else { return result }
        let isCompared = comparisonRate >= 1 || Double.random(in: 0..<1) < comparisonRate
        if isCompared, let stillness = ledger.stillness {
            await compare(result.payload, request, since: stillness)
        }
        return result
    }

    private func compare(
        _ answer: ReadResult.Payload,
        _ original: ReadRequest,
        since stillness: UInt64
    ) async {
        let operation = original.operation
        var request = ReadRequest(operation)
        request.reportsUnreadable = original.reportsUnreadable
        do throws(StorageError) {
            let mirrored = try await mirror.read(request).payload
            guard !answer.says(mirrored) else { return }
            // A write may have come in between, so only a stable result counts as different.
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

extension ReadOperation {
    fileprivate var isOfOwnRecords: Bool {
        switch self {
        case .documents(let paths): return paths.contains { $0.collection.hasReservedSegment }
        case .query(let query), .aggregate(let query, _):
            guard case .collection(let path) = query.scope else { return false }
            return path.hasReservedSegment
        case .collections: return false
        }
    }
}

extension StorageAdapter {
    /// Copies writes to a second store, and compares the results of reads; see ``MirroredStorageAdapter``.
    ///
    /// - Parameters:
    ///   - mirror: The store to copy to.
    ///   - name: The name under which the stores remember the mirror's position: the same in each process, and
    ///     different for each mirror of a store. It must be a valid document id of at most 80 bytes; otherwise all
    ///     reads and commits throw `invalidArgument`.
    ///   - comparisonRate: The share of reads that are compared, from 0 to 1.
    ///   - observer: Receives differences and failures; it must not call the store.
    /// - Returns: The decorated adapter.
    public func mirrored<Mirror: StorageAdapter>(
        to mirror: Mirror,
        name: String = "mirror",
        comparisonRate: Double = 1,
        observer: @escaping @Sendable (MirrorEvent) -> Void
    ) -> MirroredStorageAdapter<Self, Mirror> {
        MirroredStorageAdapter(
            self,
            to: mirror,
            name: name,
            comparisonRate: comparisonRate,
            observer: observer
        )
    }
}
