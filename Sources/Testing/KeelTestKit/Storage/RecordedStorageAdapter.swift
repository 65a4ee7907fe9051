public import KeelStorageAdapting

/// A storage adapter that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemoryStorageAdapter().recorded()
/// try await StorageClient(recorded).deleteDocument("notes/1")
/// #expect(recorded.writes == [.delete("notes/1")])
/// ```
///
/// A call is recorded first, whatever the outcome. Copies share one record.
public struct RecordedStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    fileprivate let upstream: Upstream
    private let memory = CallMemory<StorageCall>()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [StorageCall] { memory.all }

    /// The number of calls.
    public var callCount: Int { memory.all.count }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: StorageCall.Kind) -> Int {
        memory.all.count { $0.kind == kind }
    }

    /// The most recently prepared schema.
    public var lastSchema: StorageSchema? {
        last { call in
            guard case .prepare(let schema) = call else { return nil }
            return schema
        }
    }

    /// The most recent read request.
    public var lastRead: ReadRequest? {
        last { call in
            guard case .read(let request) = call else { return nil }
            return request
        }
    }

    /// The most recently committed batches.
    public var lastCommit: [WriteBatch]? {
        last { call in
            guard case .commit(let batches) = call else { return nil }
            return batches
        }
    }

    /// The most recent request for changes.
    public var lastChanges: ChangeRequest? {
        last { call in
            guard case .changes(let request) = call else { return nil }
            return request
        }
    }

    /// The writes of all commits, in order.
    public var writes: [DocumentWrite] {
        calls.flatMap { call -> [DocumentWrite] in
            guard case .commit(let batches) = call else { return [] }
            return batches.flatMap(\.writes)
        }
    }

    /// Discards the recorded calls.
    public func forget() { memory.forget() }

    private func last<Argument>(_ argument: (StorageCall) -> Argument?) -> Argument? {
        calls.reversed().lazy.compactMap(argument).first
    }

    // MARK: Adapter

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        memory.add(.prepare(schema))
        try await upstream.prepare(schema)
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        memory.add(.read(request))
        return try await upstream.read(request)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        memory.add(.commit(batches))
        return try await upstream.commit(batches)
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        memory.add(.changes(request))
        return try await upstream.changes(request)
    }
}

extension StorageAdapter {
    /// Records the calls; see ``RecordedStorageAdapter``.
    public func recorded() -> RecordedStorageAdapter<Self> {
        RecordedStorageAdapter(upstream: self)
    }
}
