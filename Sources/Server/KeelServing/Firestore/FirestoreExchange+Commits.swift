import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// `commit`: applies writes atomically, in a transaction if the request has a token.
    func commit() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let batch = try decoding.batch(body)
        try WriteRules.check(batch, reserved, for: adapter.capabilities)
        guard let token = try token(of: body) else {
            return try await commit(batch)
        }
        return try await commit(batch, of: token)
    }

    /// Commits a transaction; a repeated request takes effect once if the store supports idempotent commits.
    private func commit(
        _ batch: WriteBatch,
        of token: TransactionToken
    ) async throws(StorageError) -> [UInt8] {
        let isRepeatable = adapter.capabilities.contains(.idempotentCommits)
        let writes = try WritesHash(batch.writes)
        let transaction = try await transactions.startCommit(
            of: token,
            writes,
            isRepeatable: isRepeatable
        )
        do throws(StorageError) {
            guard transaction.kind == .readWrite || batch.writes.isEmpty else {
                throw FirestoreDecoding.flaw("the transaction is read-only and has writes")
            }
            var whole = batch
            if isRepeatable { whole.id = batch.id ?? token.text }
            let reads = transaction.reads
            whole.reads = batch.reads ?? TransactionReads()
            whole.reads?.documents += reads.documents
            whole.reads?.queries += reads.queries
            let reply = try await commit(whole)
            if isRepeatable {
                await transactions.endCommit(of: token, in: .committed(writes))
            } else {
                try? await transactions.forget(token)
            }
            return reply
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

    private func commit(_ batch: WriteBatch) async throws(StorageError) -> [UInt8] {
        do throws(StorageError) {
            let results = try await adapter.commit([batch])
            guard let result = results.first else {
                throw StorageError(.unknown, "the store did not answer", effect: .unknown)
            }
            return encoding.receipt(try result.get()).bytes
        } catch {
            guard error.code == .conflict, batch.reads != nil else { throw error }
            throw TransactionTable.conflict(error)
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
        var results = batches.isEmpty ? [] : try await adapter.commit(batches)[...]
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
