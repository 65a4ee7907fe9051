public import KeelDocuments

/// The semantics of writes and queries, as pure functions.
///
/// The rules for writes are those of Firestore's `Write` and `DocumentTransform` (googleapis,
/// google/firestore/v1/write.proto).
public enum StorageEvaluator: Sendable {

    /// The effect of a write on the store.
    public enum Effect: Sendable, Hashable {
        /// No effect.
        case none
        /// The document must be stored.
        case store(Document)
        /// The document must be removed, with this revision of the removal.
        case remove(Revision)
    }

    /// Computes the effect of one write on the current state of its document.
    ///
    /// - Returns: The effect, and the outcome of the write for the receipt.
    /// - Throws: The error code of a failed condition, `StorageError/Code/tooLarge`,
    ///   `StorageError/Code/invalidArgument` for a replica whose revision is out of range, or
    ///   `StorageError/Code/corrupted` for an update of an unreadable document.
    public static func apply(
        _ write: DocumentWrite,
        to current: Document?,
        at commit: Commit
    ) throws(StorageError) -> (effect: Effect, outcome: CommitReceipt.WriteOutcome) {
        try check(write.condition, of: write.path, against: current)
        switch write.operation {
        case .verify:
            return (.none, CommitReceipt.WriteOutcome(current))
        case .delete:
            guard let current else { return (.none, CommitReceipt.WriteOutcome(nil)) }
            let revision = revision(after: current, at: commit)
            let time = commit.documentTime ?? commit.documentTime(after: current.updateTime)
            return (.remove(revision), CommitReceipt.WriteOutcome(nil, removed: time))
        case .replicate(let document):
            // Later revisions continue from this one and must not overflow.
            guard (1...Int64.max - 1 << 40).contains(document.revision.number) else {
                throw StorageError(
                    .invalidArgument,
                    "the replica of “\(write.path)” has a revision out of range",
                    resource: write.path.string
                )
            }
            guard document != current else {
                return (.none, CommitReceipt.WriteOutcome(document))
            }
            return (.store(document), CommitReceipt.WriteOutcome(document))
        case .set(let body, let transforms):
            guard !transforms.isEmpty else {
                return try store(body, over: current, of: write, results: [], at: commit)
            }
            var fields = try body.fields()
            // The set replaces the document, so each transform starts from the new fields.
            let changes = transforms.map { FieldChange($0.field, .transform($0.operation)) }
            let results = Self.apply(changes, to: &fields, at: commit)
            let full = DocumentBody(fields)
            return try store(full, over: current, of: write, results: results, at: commit)
        case .update(let changes):
            var fields = try current?.fields() ?? DocumentFields()
            let results = Self.apply(changes, to: &fields, at: commit)
            let body = DocumentBody(fields)
            return try store(body, over: current, of: write, results: results, at: commit)
        }
    }

    private static func store(
        _ body: DocumentBody,
        over current: Document?,
        of write: DocumentWrite,
        results: [DocumentValue],
        at commit: Commit
    ) throws(StorageError) -> (effect: Effect, outcome: CommitReceipt.WriteOutcome) {
        // The client checked the written fields, but transforms can enlarge a document.
        guard body.bytes.count <= DocumentBody.longest else {
            throw StorageError(
                .tooLarge,
                "the document “\(write.path)” would be larger than \(DocumentBody.longest) bytes",
                resource: write.path.string
            )
        }
        if let current, current.body == body {
            return (.none, CommitReceipt.WriteOutcome(current, transformResults: results))
        }
        let time = commit.documentTime ?? commit.documentTime(after: current?.updateTime)
        let document = Document(
            path: write.path,
            body: body,
            revision: revision(after: current, at: commit),
            createTime: current?.createTime ?? time,
            updateTime: max(time, current?.updateTime ?? time)
        )
        return (.store(document), CommitReceipt.WriteOutcome(document, transformResults: results))
    }

    private static func revision(after current: Document?, at commit: Commit) -> Revision {
        let floor = (current?.revision.number ?? 0) + 1
        return Revision(number: max(commit.revision, floor))
    }

    /// Checks the condition of a write.
    ///
    /// - Throws: The error code that the condition documents, if it does not hold.
    public static func check(
        _ condition: WriteCondition,
        of path: DocumentPath,
        against current: Document?
    ) throws(StorageError) {
        switch condition {
        case .none: return
        case .exists:
            guard current == nil else { return }
            throw .noDocument(at: path)
        case .isMissing:
            guard current != nil else { return }
            throw StorageError(
                .alreadyExists,
                "a document already exists at “\(path)”",
                resource: path.string
            )
        case .revision(let revision):
            guard current?.revision != revision else { return }
            throw conflict(at: path, current)
        case .updateTime(let time):
            guard current?.updateTime != time else { return }
            guard let current, time > current.updateTime else { throw conflict(at: path, current) }
            throw StorageError(
                .conflict,
                "\(LaterUpdateTime.message) of “\(path)”",
                resource: path.string,
                cause: LaterUpdateTime()
            )
        }
    }

    private static func conflict(at path: DocumentPath, _ current: Document?) -> StorageError {
        let state = current == nil ? "has been deleted" : "has changed"
        return StorageError(
            .conflict,
            "“\(path)” \(state) since it was read",
            resource: path.string
        )
    }

    /// Checks that the results of a transaction's reads are unchanged.
    ///
    /// - Parameters:
    ///   - reads: The reads of the transaction.
    ///   - current: Returns the current document at a path.
    ///   - found: Returns the documents that a query finds now.
    /// - Throws: `StorageError/Code/conflict` if a result has changed, and the errors of the closures.
    public static func check(
        _ reads: TransactionReads,
        current: (DocumentPath) throws(StorageError) -> Document?,
        found: (DocumentQuery) throws(StorageError) -> [Document]
    ) throws(StorageError) {
        for read in reads.documents { try check(read, now: try current(read.path)) }
        for read in reads.queries { try check(read, now: try found(read.query)) }
    }

    static func check(
        _ read: TransactionReads.DocumentRead,
        now: Document?
    ) throws(StorageError) {
        guard now?.revision == read.revision else { throw conflict(at: read.path, now) }
    }

    static func check(
        _ read: TransactionReads.QueryRead,
        now: [Document]
    ) throws(StorageError) {
        let found = now.map {
            TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
        }
        guard found == read.found else {
            throw StorageError(.conflict, "the result of a query has changed since it was read")
        }
    }
}

/// The cause of a conflict in which the condition’s update time is later than the document’s, so that the document
/// never had it.
///
/// Google's server refuses such a condition as an invalid argument.
package struct LaterUpdateTime: Error, CustomStringConvertible {
    /// The beginning of the conflict’s message, by which a client of the plain protocol recognizes it.
    package static let message = "the expected update time is later than that"

    package init() {}

    package var description: String { Self.message }
}
