internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// The state of each batch of a commit across retries.
struct CommitAttempts {
    private typealias Answer = Result<CommitReceipt, StorageError>

    private let batches: [WriteBatch]
    private let isIdempotent: Bool
    private var answers: [Answer]
    private var open: [Int]
    /// The batches that may have been applied by a call whose reply was lost.
    private var uncertain: Set<Int> = []
    private(set) var hasAnswers = false

    init(_ batches: [WriteBatch], isIdempotent: Bool) {
        self.batches = batches
        self.isIdempotent = isIdempotent
        open = Array(batches.indices)
        answers = batches.map { _ in
            .failure(StorageError(.unknown, "the batch has not been committed"))
        }
    }

    var openBatches: [WriteBatch] { open.map { batches[$0] } }

    var results: [Result<CommitReceipt, StorageError>] { answers }

    func mayRepeat(_ error: StorageError) -> Bool {
        error.isTransient && (isIdempotent || error.effect == .none)
    }

    /// Records the error of a call that failed as a whole; returns it with the effect of all attempts.
    mutating func fail(with error: StorageError) -> StorageError {
        if error.effect == .unknown { uncertain.formUnion(open) }
        for index in open { answers[index] = .failure(marked(error, at: index)) }
        return uncertain.isEmpty ? error : error.withUnknownEffect
    }

    /// Records a call's results.
    ///
    /// - Returns: The first error that requires a retry, or nil when all batches have a final result.
    /// - Throws: An error for a wrong number of results.
    mutating func take(
        _ results: [Result<CommitReceipt, StorageError>]
    ) throws(StorageError) -> StorageError? {
        guard results.count == open.count else {
            throw fail(
                with: StorageError(
                    .unknown,
                    "the adapter returned \(results.count) results for \(open.count) batches",
                    effect: .unknown
                )
            )
        }
        hasAnswers = true
        var unsettled: [Int] = []
        for (index, result) in zip(open, results) {
            guard case .failure(let error) = result else {
                answers[index] = result
                continue
            }
            if error.effect == .unknown { uncertain.insert(index) }
            // A store compares conditions once it has not found the batch's id, so that an earlier attempt had no
            // effect either. Other errors may come from before that: of a closed store, a migration or a missing right.
            answers[index] = error.isRefusedCondition ? result : .failure(marked(error, at: index))
            if mayRepeat(error) { unsettled.append(index) }
        }
        open = unsettled.filter { !isOvertaken($0) }
        return open.first.flatMap { error(at: $0) }
    }

    /// Returns whether a later batch may have written to a document that this one writes to.
    private func isOvertaken(_ index: Int) -> Bool {
        let paths = Set(batches[index].writes.map(\.path))
        return batches.indices.dropFirst(index + 1).contains { later in
            let mayHaveTakenEffect = error(at: later).map { $0.effect == .unknown } ?? true
            return mayHaveTakenEffect
                && batches[later].writes.contains { paths.contains($0.path) }
        }
    }

    private func error(at index: Int) -> StorageError? {
        guard case .failure(let error) = answers[index] else { return nil }
        return error
    }

    private func marked(_ error: StorageError, at index: Int) -> StorageError {
        uncertain.contains(index) ? error.withUnknownEffect : error
    }
}
