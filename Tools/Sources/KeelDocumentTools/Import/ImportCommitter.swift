internal import KeelStorage

/// Stores the batches of one import.
struct ImportCommitter: Sendable {
    let adapter: any StorageAdapter
    /// Which import it is; part of the ids of its batches.
    let run: String

    /// Stores a batch, without the documents that the store refuses.
    ///
    /// - Parameter batch: The batch.
    /// - Returns: What became of it.
    /// - Throws: `StorageError` if it may be stored at another time; what of it is stored then will
    ///   be stored again.
    func commit(_ batch: ImportBatch) async throws(StorageError) -> ImportBatch.Outcome {
        guard !batch.entries.isEmpty else { return ImportBatch.Outcome() }
        do throws(StorageError) {
            try await commit(batch.entries.map(\.write), of: batch)
            return ImportBatch.Outcome(imported: batch.entries.count)
        } catch {
            guard Self.isRefusal(error) else { throw error }
            return try await commitOneByOne(batch)
        }
    }

    /// Finds out which documents of a batch the store refuses.
    private func commitOneByOne(
        _ batch: ImportBatch
    ) async throws(StorageError) -> ImportBatch.Outcome {
        var outcome = ImportBatch.Outcome()
        for entry in batch.entries {
            do throws(StorageError) {
                try await commit([entry.write], of: batch, number: entry.number)
                outcome.imported += 1
            } catch {
                guard Self.isRefusal(error) else { throw error }
                let element = BadElement(number: entry.number, reason: error.message)
                outcome.refused.append(.init(element: element, range: entry.range))
            }
        }
        return outcome
    }

    private func commit(
        _ writes: [DocumentWrite],
        of batch: ImportBatch,
        number: Int? = nil
    ) async throws(StorageError) {
        // The id says which bytes of the file: the same id always means the same documents, also
        // after a resumption with batches of another size.
        let place = "\(batch.start)-\(batch.end)"
        let id = "import-\(run)-\(place)" + (number.map { "-\($0)" } ?? "")
        // A store without idempotent commits refuses ids; the same documents again do no harm there.
        let keepsIDs = adapter.capabilities.contains(.idempotentCommits)
        let results = try await adapter.commit([WriteBatch(id: keepsIDs ? id : nil, writes)])
        guard let result = results.first else {
            throw StorageError(.unknown, "the store did not answer a batch", effect: .unknown)
        }
        _ = try result.get()
    }

    /// Whether the store will not take a document, however often it is sent.
    private static func isRefusal(_ error: StorageError) -> Bool {
        error.effect == .none
            && [.invalidArgument, .tooLarge, .encodingFailed].contains(error.code)
    }
}
