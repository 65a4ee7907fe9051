package import KeelStorageAdapting

/// An adapter that forwards to another adapter the requirements it does not implement.
package protocol ForwardingStorageAdapter: StorageAdapter {
    var upstream: any StorageAdapter { get }
}

extension ForwardingStorageAdapter {
    package var capabilities: StorageCapabilities { upstream.capabilities }

    package var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    package func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    package func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }

    package func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await upstream.commit(batches)
    }

    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
}

/// An adapter that hides the change log of another one, so that listeners poll, or follow their queries.
package struct PolledStorageAdapter: ForwardingStorageAdapter {
    package let upstream: any StorageAdapter
    /// Whether queries and single documents can still be followed.
    private let followsQueries: Bool

    package init(upstream: any StorageAdapter, followsQueries: Bool = false) {
        self.upstream = upstream
        self.followsQueries = followsQueries
    }

    package var capabilities: StorageCapabilities {
        let hidden: StorageCapabilities = followsQueries ? .changeLog : [.changeLog, .queryChanges]
        return upstream.capabilities.subtracting(hidden)
    }

    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isNarrow = request.query != nil || request.scope == .documents(request.scope.documents)
        guard followsQueries, isNarrow else {
            throw StorageError(.unsupported, "this adapter shows no change log")
        }
        return try await upstream.changes(request)
    }
}
