internal import KeelStorage
internal import KeelStorageAdapting

/// Stores the batches of one import.
struct ImportCommitter: Sendable {
    let adapter: any StorageAdapter
    /// Which import it is; part of the ids of its batches.
    let run: String

    /// Stores some batches by one call, without the documents that the store refuses.
    ///
    /// - Parameter batches: The batches.
    /// - Returns: What became of each.
    /// - Throws: `StorageError` if something may be stored at another time only; what is stored then
    ///   will be stored again.
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

    /// What became of each; a call that is refused as a whole has refused each of them.
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

    /// Finds out which documents of a batch the store refuses.
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
        // The id says which bytes of the file: the same id always means the same documents, also
        // after a resumption with batches of another size.
        let place = "\(batch.start)-\(batch.end)"
        let id = "import-\(run)-\(place)" + (number.map { "-\($0)" } ?? "")
        // A store without idempotent commits refuses ids; the same documents again do no harm there.
        let keepsIDs = adapter.capabilities.contains(.idempotentCommits)
        return WriteBatch(id: keepsIDs ? id : nil, writes)
    }

    private static let unanswered = StorageError(
        .unknown,
        "the store did not answer a batch",
        effect: .unknown
    )

    /// Whether the store will not take a document, however often it is sent.
    private static func isRefusal(_ error: StorageError) -> Bool {
        error.effect == .none
            && [.invalidArgument, .tooLarge, .encodingFailed].contains(error.code)
    }
}
