public import KeelStorageAdapting

extension FirestoreStorageAdapter {
    /// Applies each batch with requests of its own, one batch after the other.
    ///
    /// A batch that the server refuses does not stop the following batches. After one that failed because the server
    /// could not be reached, did not answer in time, or the task was canceled, they fail without being sent.
    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await StorageContext.current.repeated().perform { () async throws(StorageError) in
            await results(of: batches)
        }
    }

    private func results(
        of batches: [WriteBatch]
    ) async -> [Result<CommitReceipt, StorageError>] {
        var results: [Result<CommitReceipt, StorageError>] = []
        results.reserveCapacity(batches.count)
        var stop: StorageError?
        for batch in batches {
            do throws(StorageError) {
                if let stop { throw stop }
                try check(batch)
                let receipt =
                    configuration.isExtended
                    ? try await commitWithAdditions(batch) : try await commitPlainly(batch)
                results.append(.success(receipt))
            } catch {
                results.append(.failure(error))
                // Waiting for the same server again with each batch would multiply the time limit.
                if stop == nil, [.unavailable, .timeout, .cancelled].contains(error.code) {
                    stop = StorageError(
                        error.code,
                        "not sent, because an earlier batch failed: \(error.message)",
                        cause: error.cause
                    )
                }
            }
        }
        return results
    }

    private func check(_ batch: WriteBatch) throws(StorageError) {
        if batch.id != nil { try require(.idempotentCommits, for: "a batch with an id") }
        if batch.reads != nil { try require(.transactions, for: "a batch that depends on reads") }
        if batch.origin != nil { try require(.origins, for: "a batch with an origin") }
        for write in batch.writes {
            guard case .replicate = write.operation else { continue }
            try require(.replication, for: "a replica")
        }
    }

    private func commitWithAdditions(
        _ batch: WriteBatch
    ) async throws(StorageError) -> CommitReceipt {
        // Another server would apply the batch and ignore its id and its reads.
        try await connection.requireExtensions()
        var call = FirestoreCall("commit", on: encoding.root, try encoding.commit(batch))
        call.isRepeatable = batch.id != nil
        let session = await feed.session()
        var receipt = try await receipt(of: call, for: batch)
        receipt.position?.session = session
        return receipt
    }

    private func commitPlainly(_ batch: WriteBatch) async throws(StorageError) -> CommitReceipt {
        let message = try encoding.commit(batch.writes)
        guard let reads = batch.reads else {
            var call = FirestoreCall("commit", on: encoding.root, message)
            call.isRepeatable = false
            return try await receipt(of: call, for: batch)
        }
        return try await inTransaction(validating: reads) { token throws(StorageError) in
            let members = (message.members ?? []) + [.init("transaction", .string(token))]
            var call = FirestoreCall("commit", on: encoding.root, .object(members))
            call.isRepeatable = false
            call.isTransactional = true
            return try await receipt(of: call, for: batch)
        }
    }

    private func receipt(
        of call: FirestoreCall,
        for batch: WriteBatch
    ) async throws(StorageError) -> CommitReceipt {
        var call = call
        call.isWrite = true
        if Self.namesVersionsOnly(batch) { call.codeForMissing = .conflict }
        let json = try await reply(to: call, for: batch)
        var receipt = try decoded(isWrite: true) { decoding throws(StorageError) in
            try decoding.receipt(json, for: batch)
        }
        if !configuration.isExtended {
            receipt.outcomes = Self.settled(receipt.outcomes, of: batch.writes)
        }
        return receipt
    }

    private func reply(
        to call: FirestoreCall,
        for batch: WriteBatch
    ) async throws(StorageError) -> FirestoreJSON {
        do throws(StorageError) {
            let json = try await connection.reply(to: call)
            guard batch.writes.isEmpty, json["commitTime"] == nil, !configuration.isExtended
            else { return json }
            // Google's emulator names no time where nothing was written.
            var request = ReadRequest(.documents([]))
            request.needsTime = true
            guard let time = try await read(request).time else { return json }
            return ["commitTime": .string(FirestoreTime.text(of: time))]
        } catch {
            // Google's emulator names no document, which can only be that of the only write.
            let codes: [StorageError.Code] = [.documentNotFound, .alreadyExists, .conflict]
            guard codes.contains(error.code), batch.writes.count == 1, batch.reads == nil else {
                throw error
            }
            throw StorageError(
                error.code,
                error.message,
                effect: error.effect,
                resource: error.resource ?? batch.writes[0].path.string,
                cause: error.cause
            )
        }
    }

    /// Returns whether a missing document can only mean that a condition on a revision or update time failed.
    private static func namesVersionsOnly(_ batch: WriteBatch) -> Bool {
        let conditions = batch.writes.map(\.condition)
        return !conditions.contains(.exists)
            && conditions.contains { condition in
                switch condition {
                case .revision, .updateTime: true
                case .none, .exists, .isMissing: false
                }
            }
    }

    /// Returns the outcomes with the revisions and times after the whole batch.
    ///
    /// The protocol reports the state after each write, which a later write of the batch may have changed.
    private static func settled(
        _ outcomes: [CommitReceipt.WriteOutcome],
        of writes: [DocumentWrite]
    ) -> [CommitReceipt.WriteOutcome] {
        var last: [DocumentPath: CommitReceipt.WriteOutcome] = [:]
        for (write, outcome) in zip(writes, outcomes) {
            if case .verify = write.operation, last[write.path] != nil { continue }
            last[write.path] = outcome
        }
        return zip(writes, outcomes).map { write, outcome in
            var outcome = outcome
            if let last = last[write.path] {
                (outcome.revision, outcome.updateTime) = (last.revision, last.updateTime)
            }
            return outcome
        }
    }
}
