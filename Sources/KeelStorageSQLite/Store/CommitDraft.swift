#if SQLite
internal import KeelStorage

/// What a batch would do, worked out before anything is written.
struct CommitDraft {
    /// A document as the file has it.
    struct Stored {
        var collection: Int64?
        var row: Int64?
        /// The document; without a body where that cannot be read.
        var document: Document?
        /// Why its body cannot be read; nil if it can.
        var failure: StorageError?
        /// When it was removed, where it is missing and that may matter.
        var removalTime: Timestamp?

        /// When it was last changed, or removed.
        var lastTime: Timestamp? { document?.updateTime ?? removalTime }
    }

    /// What becomes of one document, however many writes concern it.
    struct Change {
        let path: DocumentPath
        let stored: Stored
        /// The document after the writes so far; nil if it is missing.
        var document: Document?
        /// The sequence of the last write that had an effect; nil if none had.
        var sequence: Int64?
        /// The revision that goes into the log.
        var revision = Revision(number: 0)
    }

    let commit: StorageEvaluator.Commit
    private(set) var changes: [Change] = []
    /// How many writes had an effect, and so how many sequences the batch takes.
    private(set) var changeCount = 0
    private var positions: [DocumentPath: Int] = [:]
    private var outcomes: [CommitReceipt.WriteOutcome] = []
    /// What revisions of missing documents must exceed.
    private let floor: Int64

    init(at commit: StorageEvaluator.Commit, floor: Int64) {
        self.commit = commit
        self.floor = floor
    }

    /// Works out one more write.
    mutating func add(_ write: DocumentWrite, load: (DocumentPath) throws -> Stored) throws {
        let position = try position(of: write.path, load: load)
        let current = changes[position].document
        // A document that cannot be read can be replaced and removed, but an update needs its fields.
        if let failure = changes[position].stored.failure, changes[position].sequence == nil,
            case .update = write.operation
        {
            try StorageEvaluator.check(write.condition, of: write.path, against: current)
            throw failure
        }
        let sequence = commit.storeTime.microseconds + Int64(changeCount)
        var turn = commit
        turn.revision = current == nil ? max(sequence, floor + 1) : sequence
        turn.documentTime = time(of: changes[position])
        let (effect, outcome) = try StorageEvaluator.apply(write, to: current, at: turn)
        outcomes.append(outcome)
        switch effect {
        case .none: return
        case .store(let document):
            changes[position].document = document
            changes[position].revision = document.revision
        case .remove(let revision):
            changes[position].document = nil
            changes[position].revision = revision
        }
        changes[position].sequence = sequence
        changeCount += 1
        guard changes[position].document == nil else { return }
        outcomes[outcomes.count - 1].updateTime = removalTime(of: changes[position])
    }

    /// The update time that a document gets, or the time of its removal.
    func time(of change: Change) -> Timestamp {
        commit.documentTime(after: change.stored.lastTime)
    }

    /// The time of a removal, which is its place in the log where nothing else is noted
    /// (``RemovalTimes``); nil if there is none.
    private func removalTime(of change: Change) -> Timestamp? {
        guard let sequence = change.sequence, change.document == nil else { return nil }
        let time = time(of: change)
        return time == commit.storeTime ? Timestamp(microseconds: sequence) : time
    }

    private mutating func position(
        of path: DocumentPath,
        load: (DocumentPath) throws -> Stored
    ) throws -> Int {
        // The first write, in most batches the only one, needs no look-up.
        if !changes.isEmpty, let known = positions[path] { return known }
        let stored = try load(path)
        changes.append(Change(path: path, stored: stored, document: stored.document))
        positions[path] = changes.count - 1
        return changes.count - 1
    }

    /// One outcome a write, each with the version that its document has after the whole batch.
    func outcomes(of writes: [DocumentWrite]) -> [CommitReceipt.WriteOutcome] {
        guard changes.count < writes.count else { return outcomes }
        var settled = outcomes
        for (number, write) in writes.enumerated() {
            guard let position = positions[write.path] else { continue }
            let change = changes[position]
            settled[number].settle(change.document, removed: removalTime(of: change))
        }
        return settled
    }
}
#endif
