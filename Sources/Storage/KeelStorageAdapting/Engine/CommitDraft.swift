package import KeelDocuments

/// The effects of a batch, computed before anything is written.
package struct CommitDraft {
    package struct Stored {
        package var collection: Int64?
        package var row: Int64?
        /// The document; its body is empty if it cannot be read.
        package var document: Document?
        package var failure: StorageError?
        /// The time of removal, if the document is missing and the time may matter.
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

        package var lastTime: Timestamp? { document?.updateTime ?? removalTime }
    }

    package struct Change {
        package let path: DocumentPath
        package let stored: Stored
        package var document: Document?
        /// The sequence number of the last write with an effect; nil if there is none.
        package var sequence: Int64?
        /// The revision for the change log.
        package var revision = Revision(number: 0)
    }

    package let commit: StorageEvaluator.Commit
    package private(set) var changes: [Change] = []
    /// The number of writes with an effect, which is the number of sequence numbers that the batch uses.
    package private(set) var changeCount = 0
    /// The positions of the changes after the first one.
    private var positions: [DocumentPath: Int] = [:]
    private var outcomes: [CommitReceipt.WriteOutcome] = []
    private let first: Int64
    private let floor: Int64

    /// Creates an empty draft, whose changes count from `first`; new revisions of missing documents exceed `floor`.
    package init(at commit: StorageEvaluator.Commit, from first: Int64, floor: Int64) {
        self.commit = commit
        self.first = first
        self.floor = floor
    }

    package mutating func add(_ write: DocumentWrite, load: (DocumentPath) throws -> Stored) throws
    {
        let position = try position(of: write.path, load: load)
        let current = changes[position].document
        // An unreadable document can be replaced and removed, but an update needs its fields.
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

    package func time(of change: Change) -> Timestamp {
        commit.documentTime(after: change.stored.lastTime)
    }

    /// Returns the time of a removal; nil if the document was not removed.
    ///
    /// A removal at the store's time of the commit takes its sequence number as its time (`RemovalTimes`).
    private func removalTime(of change: Change) -> Timestamp? {
        guard let sequence = change.sequence, change.document == nil else { return nil }
        let time = time(of: change)
        return time == commit.storeTime ? Timestamp(microseconds: sequence) : time
    }

    private mutating func position(
        of path: DocumentPath,
        load: (DocumentPath) throws -> Stored
    ) throws -> Int {
        if let known = position(of: path) { return known }
        let stored = try load(path)
        if !changes.isEmpty { positions[path] = changes.count }
        changes.append(Change(path: path, stored: stored, document: stored.document))
        return changes.count - 1
    }

    private func position(of path: DocumentPath) -> Int? {
        changes.first?.path == path ? 0 : positions[path]
    }

    /// Returns one outcome per write, with the document's state after the whole batch.
    package func outcomes(of writes: [DocumentWrite]) -> [CommitReceipt.WriteOutcome] {
        guard changes.count < writes.count else { return outcomes }
        var settled = outcomes
        for (number, write) in writes.enumerated() {
            guard let position = position(of: write.path) else { continue }
            let change = changes[position]
            settled[number].settle(change.document, removed: removalTime(of: change))
        }
        return settled
    }
}
