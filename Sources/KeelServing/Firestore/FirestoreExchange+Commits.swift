import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `commit`: writes that take effect together, of a transaction where a token names one.
    func commit() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let batch = try decoding.batch(body)
        try WriteRules.check(batch, reserved, for: adapter.capabilities)
        guard let token = try token(of: body) else {
            return try await commit(batch)
        }
        return try await commit(batch, of: token)
    }

    /// Commits a transaction; what is sent twice takes effect once where the store can tell.
    private func commit(
        _ batch: WriteBatch,
        of token: TransactionToken
    ) async throws(StorageError) -> [UInt8] {
        let transaction = try transactions.startCommit(of: token, batch.writes)
        let isRepeatable = adapter.capabilities.contains(.idempotentCommits)
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
                transactions.endCommit(of: token, in: .committed(batch.writes.hashValue))
            } else {
                transactions.forget(token)
            }
            return reply
        } catch {
            // What a client may repeat as it is must find its transaction again.
            if error.code.isTransient {
                transactions.endCommit(of: token, in: .open)
            } else {
                transactions.forget(token)
            }
            throw error
        }
    }

    private func commit(_ batch: WriteBatch) async throws(StorageError) -> [UInt8] {
        do throws(StorageError) {
            let results = try await adapter.commit([batch])
            guard let result = results.first else {
                throw StorageError(.unknown, "the store did not answer", effect: .unknown)
            }
            let receipt = try result.get()
            let unchanged = await unchangedTimes([(batch.writes, receipt)])
            return encoding.receipt(receipt, unchanged: unchanged[0]).bytes
        } catch {
            guard error.code == .conflict, batch.reads != nil else { throw error }
            throw TransactionTable.conflict(error)
        }
    }

    /// `batchWrite`: writes that each take effect or not, in no order.
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
        return await reply(to: writes, settled)
    }

    private func reply(
        to writes: [DocumentWrite],
        _ settled: [Result<CommitReceipt, StorageError>]
    ) async -> [UInt8] {
        var taken: [(writes: [DocumentWrite], receipt: CommitReceipt)] = []
        for (write, result) in zip(writes, settled) {
            if case .success(let receipt) = result { taken.append(([write], receipt)) }
        }
        var unchanged = await unchangedTimes(taken)[...]
        var results: [FirestoreJSON] = []
        var statuses: [FirestoreJSON] = []
        for result in settled {
            switch result {
            case .success(let receipt):
                let time = unchanged.popFirst()?[0] ?? receipt.commitTime
                results.append(receipt.outcomes.first.map { encoding.result($0, at: time) } ?? [:])
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

    // MARK: What was left as it was

    /// The times of the last change of documents that a write left as they were.
    ///
    /// A receipt names the revision that a document has after a commit, and not whether it is a new
    /// one. Stores make revisions of the time of the commit; one within the commit's own times is
    /// taken to be new, and of all others the document is read. Should another writer have changed
    /// it in between, the time of the commit is told: a condition on it fails, which does no harm.
    ///
    /// - Parameter commits: The writes of each commit, with what the store said.
    /// - Returns: For each commit the times, by the positions of the writes.
    func unchangedTimes(
        _ commits: [(writes: [DocumentWrite], receipt: CommitReceipt)]
    ) async -> [[Int: Timestamp]] {
        var times = commits.map { _ in [Int: Timestamp]() }
        var open: [(commit: Int, write: Int, revision: Revision)] = []
        for (number, commit) in commits.enumerated() {
            let first = commit.receipt.commitTime.microseconds
            let own = first..<(first + Int64(commit.writes.count))
            for (position, outcome) in commit.receipt.outcomes.enumerated() {
                guard let revision = outcome.revision, !own.contains(revision.number),
                    position < commit.writes.count
                else { continue }
                open.append((number, position, revision))
            }
        }
        guard !open.isEmpty else { return times }
        let paths = open.map { commits[$0.commit].writes[$0.write].path }
        // The writes have taken effect: that this read fails, or ends early, must not turn them into a
        // failure.
        var request = ReadRequest(.documents(paths))
        (request.mostBytes, request.reportsUnreadable) = (configuration.firstPageBytes, true)
        guard let result = try? await adapter.read(request),
            case .documents(let documents) = result.payload
        else { return times }
        for (place, document) in zip(open, documents) where document?.revision == place.revision {
            times[place.commit][place.write] = document?.updateTime
        }
        return times
    }
}
