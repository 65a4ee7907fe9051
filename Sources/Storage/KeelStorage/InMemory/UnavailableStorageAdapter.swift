public import KeelDocuments
public import KeelStorageAdapting

/// An adapter whose calls all fail with the same error.
///
/// Use it in place of a store that could not be opened, and in tests that must not access storage.
public struct UnavailableStorageAdapter: StorageAdapter {
    private let error: StorageError

    /// Creates an adapter that fails with an error.
    public init(_ error: StorageError) { self.error = error }

    /// All capabilities, so that every call reaches the error.
    public var capabilities: StorageCapabilities {
        [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .textSearch, .pointInTimeReads, .checkedReads,
            .heldReads, .origins, .queryChanges,
        ]
    }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) { throw error }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        throw error
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw error
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw error
    }
}
