internal import Synchronization

/// The reads and writes of one attempt of a transaction.
///
/// It is a reference, so that a body can hand it to functions of its own. It must not be used after
/// the body has returned; what is written then is lost, and says so by throwing.
public final class StorageTransaction: Sendable {
    private struct State {
        var reads = TransactionReads()
        var batch = WriteBatchBuilder()
        var isFinished = false
    }

    private let client: StorageClient
    private let state = Mutex(State())

    init(_ client: StorageClient) { self.client = client }

    /// Returns the document at a path.
    ///
    /// - Throws: ``StorageError/Code/documentNotFound`` if there is none.
    @concurrent
    public func getDocument(_ path: DocumentPath) async throws(StorageError) -> Document {
        guard let document = try await findDocument(path) else {
            throw StorageError(
                .documentNotFound,
                "there is no document at “\(path)”",
                resource: path.string
            )
        }
        return document
    }

    /// Returns the document at a path, or nil if there is none.
    @concurrent
    public func findDocument(_ path: DocumentPath) async throws(StorageError) -> Document? {
        try checkReading()
        let document = try await client.findDocument(path)
        let read = TransactionReads.DocumentRead(path: path, revision: document?.revision)
        state.withLock { $0.reads.documents.append(read) }
        return document
    }

    /// Returns the documents that a query finds.
    @concurrent
    public func queryDocuments(_ query: DocumentQuery) async throws(StorageError) -> [Document] {
        try checkReading()
        let checked = try client.check(query, for: "transaction")
        let documents = try await client.queryDocuments(checked)
        let found = documents.map {
            TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
        }
        let read = TransactionReads.QueryRead(query: checked, found: found)
        state.withLock { $0.reads.queries.append(read) }
        return documents
    }

    /// Collects writes for when the body returns.
    public func write(
        _ body: (inout WriteBatchBuilder) throws(StorageError) -> Void
    ) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            guard !state.isFinished else {
                throw StorageError(
                    .invalidArgument,
                    "the transaction is over; write while its body runs"
                )
            }
            try body(&state.batch)
        }
    }

    /// Replaces a document by these fields when the body returns.
    public func set(_ path: DocumentPath, _ fields: DocumentFields) throws(StorageError) {
        try write { batch throws(StorageError) in try batch.set(path, fields) }
    }

    /// Changes some fields of a document when the body returns.
    public func update(_ path: DocumentPath, _ changes: [FieldChange]) throws(StorageError) {
        try write { batch throws(StorageError) in batch.update(path, changes) }
    }

    /// Removes a document when the body returns.
    public func delete(_ path: DocumentPath) throws(StorageError) {
        try write { batch throws(StorageError) in batch.delete(path) }
    }

    private func checkReading() throws(StorageError) {
        let hasWritten = state.withLock {
            !$0.batch.writes.isEmpty || !$0.batch.ownWrites.isEmpty
        }
        guard !hasWritten else {
            throw StorageError(
                .invalidArgument,
                "a transaction reads before it writes; move the read up"
            )
        }
    }

    func finish() -> (batch: WriteBatchBuilder, reads: TransactionReads) {
        state.withLock { state in
            state.isFinished = true
            return (state.batch, state.reads)
        }
    }
}
