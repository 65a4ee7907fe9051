public import KeelDocuments
internal import KeelStorageAdapting
internal import Synchronization

/// The reads and writes of one attempt of a transaction.
///
/// If the adapter offers `StorageCapabilities/checkedReads` or `StorageCapabilities/pointInTimeReads`, all reads of an
/// attempt see one moment. A read throws `StorageError/Code/conflict` if the store can no longer read this moment: let
/// the body throw this error, so that it runs again. On other adapters, reads can see different moments, and the commit
/// detects the conflict.
///
/// Writes are collected, and committed when the body returns. A write after that, and a read after the first write,
/// throw `StorageError/Code/invalidArgument`.
public final class StorageTransaction: Sendable {
    private struct State {
        var reads = TransactionReads()
        var time: Timestamp?
        var batch = WriteBatchBuilder()
        var isFinished = false
    }

    private let client: StorageClient
    private let state = Mutex(State())

    init(_ client: StorageClient) { self.client = client }

    /// Returns the document at a path.
    ///
    /// - Throws: `StorageError/Code/documentNotFound` if there is none.
    @concurrent
    public func getDocument(_ path: DocumentPath) async throws(StorageError) -> Document {
        guard let document = try await findDocument(path) else { throw .noDocument(at: path) }
        return document
    }

    /// Returns the document at a path, or nil if there is none.
    @concurrent
    public func findDocument(_ path: DocumentPath) async throws(StorageError) -> Document? {
        try checkReading()
        do throws(StorageError) {
            try DocumentValidation.check(path)
        } catch {
            throw error.during("transaction")
        }
        var document: Document?
        try await read(.documents([path]), on: path.string) { payload, reads in
            if case .documents(let documents) = payload { document = documents.first ?? nil }
            reads.documents.append(.init(path: path, revision: document?.revision))
        }
        return document
    }

    /// Returns the documents that a query finds.
    @concurrent
    public func queryDocuments(_ query: DocumentQuery) async throws(StorageError) -> [Document] {
        try checkReading()
        let checked = try client.check(query, for: "transaction")
        var documents: [Document] = []
        try await read(.query(checked), on: "\(query.scope)") { payload, reads in
            if case .found(let found) = payload { documents = found }
            let found = documents.map {
                TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
            }
            reads.queries.append(.init(query: checked, found: found))
        }
        return documents
    }

    private func read(
        _ operation: ReadOperation,
        on resource: String,
        note: (ReadResult.Payload, inout TransactionReads) -> Void
    ) async throws(StorageError) {
        while true {
            let before = state.withLock { $0 }
            let request = request(operation, after: before)
            let result: ReadResult
            do throws(StorageError) {
                result = try await client.read(request, for: "transaction", on: resource)
            } catch {
                guard error.code == .snapshotTooOld, request.asOf != nil else { throw error }
                throw StorageError(
                    .conflict,
                    "the store no longer holds the snapshot that the transaction reads",
                    operation: "transaction",
                    resource: resource,
                    cause: error
                )
            }
            let isTaken = state.withLock { state in
                // A concurrent read of the body may have set another moment.
                if request.needsPosition {
                    guard
                        state.reads == before.reads
                            || result.position != nil && result.position == state.reads.position
                    else { return false }
                } else if let time = result.time, let known = state.time {
                    guard time == known || request.asOf == known else { return false }
                }
                note(result.payload, &state.reads)
                state.reads.position = result.position
                state.time = state.time ?? result.time
                return true
            }
            if isTaken { return }
        }
    }

    private func request(_ operation: ReadOperation, after before: State) -> ReadRequest {
        var request = ReadRequest(operation)
        if case .query = operation { request.isStrict = client.configuration.isStrict }
        if client.capabilities.contains(.checkedReads) {
            request.needsPosition = true
            if before.reads != TransactionReads() { request.reads = before.reads }
        } else if client.capabilities.contains(.pointInTimeReads) {
            request.asOf = before.time
            request.needsTime = before.time == nil
        }
        return request
    }

    /// Collects writes to commit when the body returns.
    ///
    /// - Throws: The error of `body`, whose earlier writes stay collected, or `StorageError/Code/invalidArgument` once
    ///   the transaction is over.
    public func write<Value: Sendable>(
        _ body: (inout WriteBatchBuilder) throws -> Value
    ) throws -> Value {
        try state.withLock { state in
            try Self.check(state)
            return try body(&state.batch)
        }
    }

    func collect<Value: Sendable>(
        _ body: (inout WriteBatchBuilder) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try state.withLock { state throws(StorageError) in
            try Self.check(state)
            return try body(&state.batch)
        }
    }

    private static func check(_ state: State) throws(StorageError) {
        guard !state.isFinished else {
            throw StorageError(
                .invalidArgument,
                "the transaction is over; write while its body runs"
            )
        }
    }

    /// Replaces a document by fields.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public func set(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.set(path, fields, if: condition) }
    }

    /// Merges fields into a document.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public func merge(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.merge(path, fields) }
    }

    /// Stores fields at a path that has no document.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public func create(
        _ path: DocumentPath,
        _ fields: DocumentFields
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.create(path, fields) }
    }

    /// Changes some fields of a document, by default an existing one.
    public func update(
        _ path: DocumentPath,
        _ changes: [FieldChange],
        if condition: WriteCondition = .exists
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in batch.update(path, changes, if: condition) }
    }

    /// Sets some fields of a document, by default an existing one.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for an invalid field.
    public func update(
        _ path: DocumentPath,
        _ fields: DocumentFields,
        if condition: WriteCondition = .exists
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in try batch.update(path, fields, if: condition) }
    }

    /// Removes a document.
    public func delete(
        _ path: DocumentPath,
        if condition: WriteCondition = .none
    ) throws(StorageError) {
        try collect { batch throws(StorageError) in batch.delete(path, if: condition) }
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
