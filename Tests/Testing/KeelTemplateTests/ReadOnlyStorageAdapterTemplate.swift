import KeelStorageAdapting

// A template of a decorator: one requirement has its own behavior, and the others forward.

/// A decorator that refuses all writes to a store.
struct ReadOnlyStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream

    init(_ upstream: Upstream) { self.upstream = upstream }

    var capabilities: StorageCapabilities { upstream.capabilities }
    var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw StorageError(.readOnly, "this store is read-only")
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
}

extension StorageAdapter {
    /// Rejects all writes.
    func readOnly() -> ReadOnlyStorageAdapter<Self> { ReadOnlyStorageAdapter(self) }
}
