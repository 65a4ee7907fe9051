public import KeelCore
public import KeelDocuments
public import KeelStorageAdapting

/// An adapter that retries calls after transient failures.
///
/// Reads, preparations and requests for changes are retried after every transient error. A commit is retried only if
/// its error's effect is none, or if the upstream adapter offers `StorageCapabilities/idempotentCommits`. Each batch
/// without an id then gets one, which costs the store one more record per batch.
///
/// In a commit of several batches, only those that failed with a transient error are retried. A batch is not retried
/// once a later batch of the call may have written to the same document.
///
/// If another user signs in between the attempts of a commit, a `FirestoreStorageAdapter` sends nothing more, and the
/// commit fails with `unauthenticated`. A repeated read is answered for the current user.
///
/// Conflicts are not retried: use `StorageClient.transaction(_:)`. Place this adapter outside a timeout, so that each
/// attempt has its own, and inside observation, so that only the outcome is logged.
public struct RetryingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream
    private let policy: RetryPolicy
    private let clock: any Clock<Duration>
    private let makeID: @Sendable () -> String

    /// Creates the decorator; `makeID` returns unique ids for batches without one.
    package init(
        _ upstream: Upstream,
        policy: RetryPolicy,
        clock: any Clock<Duration> = ContinuousClock(),
        makeID: @escaping @Sendable () -> String = { WriteBatch.randomID() }
    ) {
        self.upstream = upstream
        self.policy = policy
        self.clock = clock
        self.makeID = makeID
    }

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await withRetry(policy, clock: clock, shouldRetry: \.isTransient) {
            (_: Int) async throws(StorageError) in
            try await upstream.prepare(schema)
        }
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await withRetry(policy, clock: clock, shouldRetry: \.isTransient) {
            (_: Int) async throws(StorageError) in
            try await upstream.read(request)
        }
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await withRetry(policy, clock: clock, shouldRetry: \.isTransient) {
            (_: Int) async throws(StorageError) in
            try await upstream.changes(request)
        }
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let isIdempotent = capabilities.contains(.idempotentCommits)
        var attempts = CommitAttempts(
            isIdempotent && policy.attempts > 1 ? batches.map(identified) : batches,
            isIdempotent: isIdempotent
        )
        let context = StorageContext.current.repeated()
        do throws(StorageError) {
            try await withRetry(policy, clock: clock, shouldRetry: attempts.mayRepeat) {
                (_: Int) async throws(StorageError) in
                let results: [Result<CommitReceipt, StorageError>]
                do throws(StorageError) {
                    let batches = attempts.openBatches
                    results = try await context.perform { () async throws(StorageError) in
                        try await upstream.commit(batches)
                    }
                } catch {
                    throw attempts.fail(with: error)
                }
                if let error = try attempts.take(results) { throw error }
            }
        } catch {
            // Throwing would report batches that succeeded as failed.
            guard attempts.hasAnswers else { throw error }
        }
        return attempts.results
    }

    private func identified(_ batch: WriteBatch) -> WriteBatch {
        guard batch.id == nil else { return batch }
        var batch = batch
        batch.id = makeID()
        return batch
    }
}

extension StorageAdapter {
    /// Retries calls after transient failures; see ``RetryingStorageAdapter``.
    public func retrying(
        _ policy: RetryPolicy,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> RetryingStorageAdapter<Self> {
        RetryingStorageAdapter(self, policy: policy, clock: clock)
    }
}

extension WriteBatch {
    /// Returns a new id: 128 random bits as 32 hexadecimal digits.
    public static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        let halves: [UInt64] = [generator.next(), generator.next()]
        return halves.map { $0.digits(16, radix: 16) }.joined()
    }
}
