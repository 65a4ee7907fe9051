internal import KeelCore
package import KeelDocuments

extension CommitLine {
    /// Writes batches as soon as it is their turn, together with those of other callers that wait.
    ///
    /// If the store refuses the transaction as a whole, each caller's batches are tried again separately, so that no
    /// caller fails because of another's. A store that does not answer, is locked, or ends its connection fails all of
    /// them at once, even if the batches of one are the cause.
    ///
    /// - Parameters:
    ///   - batches: The batches of the caller.
    ///   - write: Applies batches in one transaction, and returns a result for each.
    /// - Returns: A result for each batch of the caller.
    /// - Throws: `StorageError/Code/cancelled` for a task that is canceled while it waits, and the errors of `write`.
    package func commit(
        _ batches: [WriteBatch],
        _ write: ([WriteBatch]) async throws(StorageError) -> [Result<CommitReceipt, StorageError>]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        switch await turn(for: batches) {
        case .over(let outcome):
            return try outcome.get()
        case .write(let isAlone):
            defer { leave() }
            let others = isAlone ? [] : others(along: batches)
            return others.isEmpty
                ? try await write(batches) : try await commit(batches, along: others, write)
        }
    }

    private func commit(
        _ batches: [WriteBatch],
        along others: [Waiter],
        _ write: ([WriteBatch]) async throws(StorageError) -> [Result<CommitReceipt, StorageError>]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        do throws(StorageError) {
            var results = try await write(batches + others.flatMap(\.batches))[...]
            let own = Array(results.prefix(batches.count))
            results = results.dropFirst(batches.count)
            for other in others {
                other.finish(.success(Array(results.prefix(other.batches.count))))
                results = results.dropFirst(other.batches.count)
            }
            return own
        } catch {
            if error.isCancellation {
                putBack(others, isAlone: false)
                throw error
            }
            // The others have waited for the store equally long; one after the other, the last would wait as often as
            // there are callers. A commit that may have taken effect is not retried.
            let isOfAll = [.busy, .unavailable, .timeout].contains(error.code)
            guard error.effect == .none, !isOfAll else {
                for other in others { other.finish(.failure(error)) }
                throw error
            }
            putBack(others, isAlone: true)
            return try await write(batches)
        }
    }
}
