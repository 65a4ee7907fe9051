public import KeelStorageAdapting
internal import Synchronization

/// An adapter that remembers the calls it gets and hands each of them on.
///
/// ```swift
/// let recorded = InMemoryStorageAdapter().recorded()
/// try await StorageClient(recorded).deleteDocument("notes/1")
/// #expect(recorded.writes == [.delete("notes/1")])
/// ```
///
/// A call is remembered before it is handed on, whatever becomes of it. Copies share one memory.
public struct RecordedStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private final class Memory: Sendable {
        let calls = Mutex<[StorageCall]>([])
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; `adapter.recorded()` is the usual way.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: What was called

    /// All calls, in the order in which they came.
    public var calls: [StorageCall] { memory.calls.withLock { $0 } }

    /// How many calls there were.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// How many calls of a kind there were.
    public func callCount(of kind: StorageCall.Kind) -> Int {
        memory.calls.withLock { calls in calls.count { $0.kind == kind } }
    }

    /// The schema that was prepared last.
    public var lastSchema: StorageSchema? {
        last { call in
            guard case .prepare(let schema) = call else { return nil }
            return schema
        }
    }

    /// What was read last.
    public var lastRead: ReadRequest? {
        last { call in
            guard case .read(let request) = call else { return nil }
            return request
        }
    }

    /// The batches that were committed last.
    public var lastCommit: [WriteBatch]? {
        last { call in
            guard case .commit(let batches) = call else { return nil }
            return batches
        }
    }

    /// The request for changes that came last.
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

    /// Forgets the calls so far.
    public func forget() { memory.calls.withLock { $0 = [] } }

    private func last<Argument>(_ argument: (StorageCall) -> Argument?) -> Argument? {
        calls.reversed().lazy.compactMap(argument).first
    }

    private func remember(_ call: StorageCall) { memory.calls.withLock { $0.append(call) } }

    // MARK: Adapter

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        remember(.prepare(schema))
        try await upstream.prepare(schema)
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        remember(.read(request))
        return try await upstream.read(request)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        remember(.commit(batches))
        return try await upstream.commit(batches)
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        remember(.changes(request))
        return try await upstream.changes(request)
    }
}

extension StorageAdapter {
    /// Remembers the calls; see ``RecordedStorageAdapter``.
    public func recorded() -> RecordedStorageAdapter<Self> { RecordedStorageAdapter(self) }
}
