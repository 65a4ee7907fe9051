import KeelStorage
import KeelStorageAdapting

/// A memory adapter that declares only some of its capabilities and refuses calls that need the others.
final class ModestStorageAdapter: StorageAdapter {
    let capabilities: StorageCapabilities
    private let base = InMemoryStorageAdapter(history: .seconds(3600))

    init(_ capabilities: StorageCapabilities) { self.capabilities = capabilities }

    private func require(_ needed: StorageCapabilities) throws(StorageError) {
        guard !capabilities.isSuperset(of: needed) else { return }
        throw StorageError(.unsupported, "this adapter does not offer \(needed)")
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        guard capabilities.contains(.declaredIndexes) || schema.indexes.isEmpty else { return }
        try await base.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        switch request.operation {
        case .aggregate: try require(.aggregation)
        case .collections: try require(.collectionListing)
        case .query(let query) where query.search != nil: try require(.textSearch)
        default: break
        }
        if request.asOf != nil { try require(.pointInTimeReads) }
        if request.reads != nil { try require(.checkedReads) }
        if request.holdDuration != nil { try require(.heldReads) }
        return try await base.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        for batch in batches {
            if batch.id != nil { try require(.idempotentCommits) }
            if batch.reads != nil { try require(.transactions) }
            if batch.origin != nil { try require(.origins) }
            for write in batch.writes {
                if case .replicate = write.operation { try require(.replication) }
            }
        }
        return try await base.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isNarrow = request.query != nil || request.scope == .documents(request.scope.documents)
        try require(isNarrow && !capabilities.contains(.changeLog) ? .queryChanges : .changeLog)
        if request.query != nil { try require(.queryChanges) }
        return try await base.changes(request)
    }
}
