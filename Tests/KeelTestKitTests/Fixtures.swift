import KeelCore
import KeelStorage
import KeelStorageAdapting

/// The change that adds one to a field.
func increment(_ field: FieldPath) -> FieldChange {
    FieldChange(field, .transform(.increment(1)))
}

/// A batch that adds one to a counter, and would show if it were applied twice.
func incrementBatch(_ path: DocumentPath) -> WriteBatch {
    WriteBatch([DocumentWrite(path, .update([increment("count")]))])
}

/// A batch that sets a note's text.
func textBatch(_ path: DocumentPath, _ text: String) throws -> WriteBatch {
    WriteBatch([try .set(["text": .string(text)], at: path)])
}

extension RetryPolicy {
    /// This many attempts without a pause, for tests that are not about pauses.
    static func atOnce(_ attempts: Int) -> RetryPolicy {
        RetryPolicy(attempts: attempts, baseDelay: .zero)
    }
}

/// The memory adapter without idempotency, as many backends are.
struct ForgetfulStorageAdapter: StorageAdapter {
    let memory = InMemoryStorageAdapter()

    var capabilities: StorageCapabilities {
        memory.capabilities.subtracting(.idempotentCommits)
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await memory.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await memory.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await memory.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await memory.changes(request)
    }
}
