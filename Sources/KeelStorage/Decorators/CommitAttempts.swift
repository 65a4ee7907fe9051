internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

/// What is known of each batch of a commit while the call is repeated.
struct CommitAttempts {
    private typealias Answer = Result<CommitReceipt, StorageError>

    private let batches: [WriteBatch]
    private let isIdempotent: Bool
    private var answers: [Answer]
    /// The batches that are not settled, in order.
    private var open: [Int]
    /// The batches that a call whose reply was lost may have applied.
    private var uncertain: Set<Int> = []
    /// Whether a call has reported on batches one by one.
    private(set) var hasAnswers = false

    init(_ batches: [WriteBatch], isIdempotent: Bool) {
        self.batches = batches
        self.isIdempotent = isIdempotent
        open = Array(batches.indices)
        answers = batches.map { _ in
            .failure(StorageError(.unknown, "the batch has not been committed"))
        }
    }

    /// What the next call commits.
    var openBatches: [WriteBatch] { open.map { batches[$0] } }

    /// One result a batch, in order.
    var results: [Result<CommitReceipt, StorageError>] { answers }

    /// Whether what failed with this error can be committed again without applying it twice.
    func mayRepeat(_ error: StorageError) -> Bool {
        error.isTransient && (isIdempotent || error.effect == .none)
    }

    /// Takes the error of a call that failed as a whole.
    ///
    /// - Returns: The error, with what earlier attempts may have done in its effect.
    mutating func fail(with error: StorageError) -> StorageError {
        if error.effect == .unknown { uncertain.formUnion(open) }
        for index in open { answers[index] = .failure(marked(error, at: index)) }
        return uncertain.isEmpty ? error : error.withUnknownEffect
    }

    /// Takes a call's results.
    ///
    /// - Returns: The first error that asks for a repetition, or nil when nothing is left to do.
    /// - Throws: An error if the results do not fit the batches.
    mutating func take(
        _ results: [Result<CommitReceipt, StorageError>]
    ) throws(StorageError) -> StorageError? {
        guard results.count == open.count else {
            throw fail(
                with: StorageError(
                    .unknown,
                    "the adapter gave \(results.count) results for \(open.count) batches",
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
            // A store's final word on a batch with an id settles what a lost reply left open.
            answers[index] = error.isTransient ? .failure(marked(error, at: index)) : result
            if mayRepeat(error) { unsettled.append(index) }
        }
        open = unsettled.filter { !isOvertaken($0) }
        return open.first.flatMap { error(at: $0) }
    }

    /// Whether a later batch may have written to a document that this one writes to.
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

extension StorageError {
    fileprivate var withUnknownEffect: StorageError {
        StorageError(
            code,
            message,
            effect: .unknown,
            operation: operation,
            resource: resource,
            cause: cause
        )
    }
}
