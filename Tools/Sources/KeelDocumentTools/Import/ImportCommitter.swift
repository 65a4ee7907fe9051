internal import KeelStorage
internal import KeelStorageAdapting

struct ImportCommitter: Sendable {
    let adapter: any StorageAdapter
    let run: String

    /// Commits batches with one call, and the documents of a rejected batch one by one; returns a result per batch.
    ///
    /// - Throws: `StorageError` for a failure other than a rejection. Some batches may then be committed.
    func commit(_ batches: [ImportBatch]) async throws(StorageError) -> [ImportBatch.Outcome] {
        var outcomes = [ImportBatch.Outcome](repeating: .init(), count: batches.count)
        let filled = batches.indices.filter { !batches[$0].entries.isEmpty }
        guard !filled.isEmpty else { return outcomes }
        let results = try await results(
            of: filled.map { write(batches[$0].entries.map(\.write), of: batches[$0]) }
        )
        for (index, result) in zip(filled, results) {
            do throws(StorageError) {
                _ = try result.get()
                outcomes[index].imported = batches[index].entries.count
            } catch {
                guard Self.isRefusal(error) else { throw error }
                outcomes[index] = try await commitOneByOne(batches[index])
            }
        }
        return outcomes
    }

    /// Returns the result of each batch; if the store rejects the call, that of each batch is the rejection.
    private func results(
        of writes: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        do throws(StorageError) {
            let results = try await adapter.commit(writes)
            guard results.count == writes.count else { throw Self.unanswered }
            return results
        } catch {
            guard Self.isRefusal(error) else { throw error }
            return writes.map { _ in .failure(error) }
        }
    }

    /// Commits the documents of a batch one by one, to find those that the store rejects.
    private func commitOneByOne(
        _ batch: ImportBatch
    ) async throws(StorageError) -> ImportBatch.Outcome {
        var outcome = ImportBatch.Outcome()
        for entry in batch.entries {
            do throws(StorageError) {
                let one = write([entry.write], of: batch, number: entry.number)
                guard let result = try await adapter.commit([one]).first else {
                    throw Self.unanswered
                }
                _ = try result.get()
                outcome.imported += 1
            } catch {
                guard Self.isRefusal(error) else { throw error }
                let element = BadElement(number: entry.number, reason: error.message)
                outcome.refused.append(.init(element: element, range: entry.range))
            }
        }
        return outcome
    }

    private func write(
        _ writes: [DocumentWrite],
        of batch: ImportBatch,
        number: Int? = nil
    ) -> WriteBatch {
        // The id names a range of bytes, so the same id always has the same documents, even if the import resumes with
        // another batch size.
        let place = "\(batch.start)-\(batch.end)"
        let id = "import-\(run)-\(place)" + (number.map { "-\($0)" } ?? "")
        // A store without idempotent commits rejects ids; there, repeated documents overwrite themselves.
        let keepsIDs = adapter.capabilities.contains(.idempotentCommits)
        return WriteBatch(id: keepsIDs ? id : nil, writes)
    }

    private static let unanswered = StorageError(
        .unknown,
        "the store did not answer a batch",
        effect: .unknown
    )

    /// Returns whether the store permanently rejects documents.
    private static func isRefusal(_ error: StorageError) -> Bool {
        error.effect == .none
            && [.invalidArgument, .tooLarge, .encodingFailed].contains(error.code)
    }
}
