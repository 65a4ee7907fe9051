public import KeelStorageAdapting

/// A storage adapter whose calls fail on demand.
///
/// ```swift
/// let offline = InMemoryStorageAdapter().failing { _ in .fail(.unavailable) }
/// let flaky = InMemoryStorageAdapter().failing([.loseReply(), nil, .delay(.seconds(2))])
/// ```
///
/// Copies share the call count and the position in the list.
public struct FaultInjectingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<StorageCall, StorageFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    // MARK: Adapter

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        let fault = try await beginning(.prepare(schema))
        try await upstream.prepare(schema)
        if case .lostReply(let error) = fault { throw error }
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let fault = try await beginning(.read(request))
        let result = try await upstream.read(request)
        if case .lostReply(let error) = fault { throw error }
        return result
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let fault = try await beginning(.commit(batches))
        guard case .failedBatches(let positions, let refusal) = fault else {
            let results = try await upstream.commit(batches)
            if case .lostReply(let error) = fault { throw error }
            return results
        }
        let through = batches.indices.filter { !positions.contains($0) }
        let answers = try await upstream.commit(through.map { batches[$0] })
        var results = batches.map { _ in Result<CommitReceipt, StorageError>.failure(refusal) }
        for (position, answer) in zip(through, answers) { results[position] = answer }
        return results
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let fault = try await beginning(.changes(request))
        let page = try await upstream.changes(request)
        if case .lostReply(let error) = fault { throw error }
        return page
    }

    /// Applies the part of a fault that precedes the call; returns the rest of the fault.
    private func beginning(_ call: StorageCall) async throws(StorageError) -> StorageFault? {
        let fault = try await schedule.begin(call) {
            StorageError(.cancelled, "the call was canceled", cause: $0)
        }
        if case .failure(let error) = fault { throw error }
        return fault
    }
}

extension StorageAdapter {
    /// Makes calls fail as a closure says; see ``FaultInjectingStorageAdapter``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (StorageCall) -> StorageFault?
    ) -> FaultInjectingStorageAdapter<Self> {
        FaultInjectingStorageAdapter(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first calls fail as a list says; see ``FaultInjectingStorageAdapter``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [StorageFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingStorageAdapter<Self> {
        FaultInjectingStorageAdapter(upstream: self, schedule: CallFaults(clock, faults: faults))
    }
}
