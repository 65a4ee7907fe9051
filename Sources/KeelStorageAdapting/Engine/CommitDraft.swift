package import KeelDocuments

/// What a batch would do, worked out before anything is written.
///
/// A batch that is refused has written nothing then, and a store can work out many batches and write
/// them together.
package struct CommitDraft {
    /// A document as the store has it, with the numbers of its collection and row.
    package struct Stored {
        package var collection: Int64?
        package var row: Int64?
        /// The document; without a body where that cannot be read.
        package var document: Document?
        /// Why its body cannot be read; nil if it can.
        package var failure: StorageError?
        /// When it was removed, where it is missing and that may matter.
        package var removalTime: Timestamp?

        package init(
            collection: Int64? = nil,
            row: Int64? = nil,
            document: Document? = nil,
            failure: StorageError? = nil
        ) {
            self.collection = collection
            self.row = row
            self.document = document
            self.failure = failure
        }

        /// When it was last changed, or removed.
        package var lastTime: Timestamp? { document?.updateTime ?? removalTime }
    }

    /// What becomes of one document, however many writes concern it.
    package struct Change {
        package let path: DocumentPath
        package let stored: Stored
        /// The document after the writes so far; nil if it is missing.
        package var document: Document?
        /// The sequence of the last write that had an effect; nil if none had.
        package var sequence: Int64?
        /// The revision that goes into the log.
        package var revision = Revision(number: 0)
    }

    package let commit: StorageEvaluator.Commit
    package private(set) var changes: [Change] = []
    /// How many writes had an effect, and so how many sequences the batch takes.
    package private(set) var changeCount = 0
    private var positions: [DocumentPath: Int] = [:]
    private var outcomes: [CommitReceipt.WriteOutcome] = []
    private let first: Int64
    /// What revisions of missing documents must exceed.
    private let floor: Int64

    /// Begins a draft.
    ///
    /// - Parameters:
    ///   - commit: When the batch is committed.
    ///   - first: The sequence of its first change.
    ///   - floor: What revisions of missing documents must exceed.
    package init(at commit: StorageEvaluator.Commit, from first: Int64, floor: Int64) {
        self.commit = commit
        self.first = first
        self.floor = floor
    }

    /// Works out one more write.
    package mutating func add(_ write: DocumentWrite, load: (DocumentPath) throws -> Stored) throws
    {
        let position = try position(of: write.path, load: load)
        let current = changes[position].document
        // A document that cannot be read can be replaced and removed, but an update needs its fields.
        if let failure = changes[position].stored.failure, changes[position].sequence == nil,
            case .update = write.operation
        {
            try StorageEvaluator.check(write.condition, of: write.path, against: current)
            throw failure
        }
        let sequence = first + Int64(changeCount)
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
    package func time(of change: Change) -> Timestamp {
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
    package func outcomes(of writes: [DocumentWrite]) -> [CommitReceipt.WriteOutcome] {
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
