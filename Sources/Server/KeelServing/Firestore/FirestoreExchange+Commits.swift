import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// `commit`: applies writes atomically, in a transaction if the request has a token.
    func commit() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let batch = try decoding.batch(body)
        if let reads = batch.reads { try transactions.checkSize(of: reads) }
        try WriteRules.check(batch, reserved, for: adapter.capabilities)
        guard let token = try token(of: body) else {
            return encoding.receipt(try await receipt(of: batch)).bytes
        }
        return encoding.receipt(try await receipt(of: batch, in: token)).bytes
    }

    private func receipt(
        of batch: WriteBatch,
        in token: TransactionToken
    ) async throws(StorageError) -> CommitReceipt {
        let isRepeatable = adapter.capabilities.contains(.idempotentCommits)
        let writes = try WritesHash(batch.writes)
        let transaction: OpenTransaction
        do throws(StorageError) {
            transaction = try await transactions.startCommit(
                of: token,
                writes,
                isRepeatable: isRepeatable
            )
        } catch {
            // A client may use an id of its own again, in another transaction.
            guard error.code == .conflict, isRepeatable, batch.id == nil, !batch.writes.isEmpty
            else { throw error }
            return try await settledReceipt(of: batch, as: token.batchID(of: writes))
        }
        do throws(StorageError) {
            guard transaction.kind == .readWrite || batch.writes.isEmpty else {
                throw FirestoreDecoding.flaw("the transaction is read-only and has writes")
            }
            var whole = batch
            if isRepeatable { whole.id = batch.id ?? token.batchID(of: writes) }
            let reads = transaction.reads
            whole.reads = batch.reads ?? TransactionReads()
            whole.reads?.documents += reads.documents
            whole.reads?.queries += reads.queries
            let receipt = try await receipt(of: whole)
            if batch.id == nil { try check(receipt, of: batch) }
            if isRepeatable {
                await transactions.endCommit(of: token, in: .committed(writes))
            } else {
                try? await transactions.forget(token)
            }
            return receipt
        } catch {
            if !error.code.isTransient {
                try? await transactions.forget(token)
            } else if !isRepeatable {
                await transactions.endCommit(of: token, in: .open)
            }
            // Otherwise the client may repeat the commit, but not replace it: it may have taken effect.
            throw error
        }
    }

    /// Returns the receipt of a commit whose transaction is unknown, or prevents the commit if it has not taken effect.
    ///
    /// Receipts survive the end of a server and the failover of a database; records of transactions do not. A batch
    /// without writes takes the id of the commit, for a server that may still be committing it.
    ///
    /// - Throws: ``TransactionTable/ended`` if the commit has not taken effect.
    private func settledReceipt(
        of batch: WriteBatch,
        as id: String
    ) async throws(StorageError) -> CommitReceipt {
        let receipt = try await receipt(of: WriteBatch(id: id, []))
        try check(receipt, of: batch)
        return receipt
    }

    /// Checks that a receipt is of a batch, and not of one without writes that has taken its id.
    private func check(_ receipt: CommitReceipt, of batch: WriteBatch) throws(StorageError) {
        guard receipt.outcomes.count == batch.writes.count else { throw TransactionTable.ended }
    }

    func receipt(of batch: WriteBatch) async throws(StorageError) -> CommitReceipt {
        guard let result = try await results(of: [batch]).first else {
            throw StorageError(.unknown, "the store did not answer", effect: .unknown)
        }
        do throws(StorageError) {
            return try result.get()
        } catch {
            guard error.code == .conflict, batch.reads != nil else { throw error }
            throw TransactionTable.conflict(error)
        }
    }

    /// Commits batches.
    ///
    /// - Throws: Errors of the store. A conflict is one of the store's own transaction, such as a deadlock: clients may
    ///   repeat the request.
    private func results(
        of batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        do throws(StorageError) {
            return try await adapter.commit(batches)
        } catch {
            throw error.code == .conflict ? TransactionTable.conflict(error) : error
        }
    }

    /// `batchWrite`: applies writes independently, in no particular order.
    func batchWrite() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let writes = try decoding.batch(body).writes
        guard writes.count <= WriteValidation.mostWrites else {
            throw FirestoreDecoding.flaw("there are more than \(WriteValidation.mostWrites) writes")
        }
        guard Set(writes.map(\.path)).count == writes.count else {
            throw FirestoreDecoding.flaw("a document is written twice; “batchWrite” has no order")
        }
        var outcomes: [Result<CommitReceipt, StorageError>?] = []
        var batches: [WriteBatch] = []
        for write in writes {
            let batch = WriteBatch([write])
            do throws(StorageError) {
                try WriteRules.check(batch, reserved, for: adapter.capabilities)
                batches.append(batch)
                outcomes.append(nil)
            } catch {
                outcomes.append(.failure(error))
            }
        }
        var results = batches.isEmpty ? [] : try await results(of: batches)[...]
        guard results.count == batches.count else {
            throw StorageError(.unknown, "the store did not answer for all", effect: .unknown)
        }
        let settled = outcomes.compactMap { $0 ?? results.popFirst() }
        return reply(to: settled)
    }

    private func reply(to settled: [Result<CommitReceipt, StorageError>]) -> [UInt8] {
        var results: [FirestoreJSON] = []
        var statuses: [FirestoreJSON] = []
        for result in settled {
            switch result {
            case .success(let receipt):
                results.append(receipt.outcomes.first.map(encoding.result) ?? [:])
                statuses.append([:])
            case .failure(let error):
                results.append([:])
                statuses.append(FirestoreEncoding.status(error))
            }
        }
        return FirestoreJSON.object([
            .init("writeResults", .array(results)), .init("status", .array(statuses)),
        ]).bytes
    }
}
