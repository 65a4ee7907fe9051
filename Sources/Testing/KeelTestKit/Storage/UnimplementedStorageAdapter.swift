internal import KeelCore
public import KeelStorageAdapting

/// A storage adapter for tests that never call it: each call fails with the name of the double.
///
/// It declares every capability, so that calls reach it.
///
/// ```swift
/// let storage = UnimplementedStorageAdapter("ProfileTests.storage") { error in
///     Issue.record(error)
/// }
/// ```
public struct UnimplementedStorageAdapter: StorageAdapter {
    private let name: String
    private let onCall: @Sendable (StorageError) -> Void

    /// Creates the double.
    ///
    /// - Parameters:
    ///   - name: The name of the double in messages.
    ///   - onCall: Receives the error of each call, for code under test that may swallow it.
    public init(_ name: String, onCall: @escaping @Sendable (StorageError) -> Void = { _ in }) {
        self.name = name
        self.onCall = onCall
    }

    public var capabilities: StorageCapabilities {
        [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .textSearch, .origins,
            .pointInTimeReads, .checkedReads, .heldReads, .queryChanges,
        ]
    }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        throw failure(of: .prepare)
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        throw failure(of: .read)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw failure(of: .commit)
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw failure(of: .changes)
    }

    private func failure(of kind: StorageCall.Kind) -> StorageError {
        let error = StorageError(
            .unimplemented,
            "“\(name)” is not implemented, and \(kind.rawValue) was called on it",
            operation: kind.rawValue
        )
        onCall(error)
        return error
    }
}

extension StorageError.Code {
    /// A test called a double without an implementation.
    public static let unimplemented = Self(
        name: "unimplemented",
        advice: "Give the test an adapter for it, such as InMemoryStorageAdapter()."
    )
}
