import KeelStorage
import KeelStorageAdapting

/// An adapter that does not say all that it can do.
struct LimitedAdapter: StorageAdapter {
    private let upstream: InMemoryStorageAdapter
    private let hidden: StorageCapabilities

    init(_ upstream: InMemoryStorageAdapter, without hidden: StorageCapabilities) {
        self.upstream = upstream
        self.hidden = hidden
    }

    var capabilities: StorageCapabilities { upstream.capabilities.subtracting(hidden) }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        // As the adapter of Firestore does.
        guard capabilities.contains(.idempotentCommits) || batches.allSatisfy({ $0.id == nil })
        else { throw StorageError(.unsupported, "a batch has an id") }
        return try await upstream.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
}
