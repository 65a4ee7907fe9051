internal import KeelCore
public import KeelStorageAdapting

/// An adapter that nobody expects to be called: each call fails with the name of what is missing.
///
/// It stands in where a test needs a store to build something and not to use it. It claims every
/// capability, so that the call arrives here and the message names the double.
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
    ///   - name: What to call it in the message.
    ///   - onCall: Called with the error of each call, for code under test that may swallow it.
    public init(_ name: String, onCall: @escaping @Sendable (StorageError) -> Void = { _ in }) {
        self.name = name
        self.onCall = onCall
    }

    public var capabilities: StorageCapabilities {
        [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .textSearch, .origins,
            .pointInTimeReads, .checkedReads, .heldReads,
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
    /// A test called a double that it had given nothing to do.
    public static let unimplemented = Self(
        name: "unimplemented",
        advice: "Give the test an adapter for it, such as InMemoryStorageAdapter()."
    )
}
