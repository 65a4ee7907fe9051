public import KeelStorageAdapting

/// An adapter whose calls fail as a test wants them to.
///
/// ```swift
/// let offline = InMemoryStorageAdapter().failing { _ in .fail(.unavailable) }
/// let flaky = InMemoryStorageAdapter().failing([.loseReply(), nil, .delay(.seconds(2))])
/// ```
///
/// Copies share the count of calls and the position in the list.
public struct FaultInjectingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream
    private let schedule: CallFaults<StorageCall, StorageFault>

    /// Creates an adapter that asks a closure what happens to each call.
    ///
    /// - Parameters:
    ///   - upstream: The adapter that answers what goes through.
    ///   - clock: The clock on which delays are measured.
    ///   - fault: What goes wrong with the call; nil lets it through.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        fault: @escaping @Sendable (StorageCall) -> StorageFault?
    ) {
        self.upstream = upstream
        schedule = CallFaults(clock, fault: fault)
    }

    /// Creates an adapter with a list of what happens to its first calls; the rest goes through.
    ///
    /// - Parameters:
    ///   - upstream: The adapter that answers what goes through.
    ///   - clock: The clock on which delays are measured.
    ///   - faults: What goes wrong with each call of any kind, in order; nil lets it through.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        faults: [StorageFault?]
    ) {
        self.upstream = upstream
        schedule = CallFaults(clock, faults: faults)
    }

    /// How many calls there were.
    public var callCount: Int { schedule.callCount }

    // MARK: Adapter

    public var capabilities: StorageCapabilities { upstream.capabilities }

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

    /// Does what comes before a call.
    ///
    /// - Returns: What is left to go wrong.
    private func beginning(_ call: StorageCall) async throws(StorageError) -> StorageFault? {
        let fault: StorageFault?
        do {
            fault = try await schedule.begin(call)
        } catch {
            throw StorageError(.cancelled, "the call was cancelled", cause: error)
        }
        if case .failure(let error) = fault { throw error }
        return fault
    }
}

extension StorageAdapter {
    /// Lets calls fail as a closure says; see ``FaultInjectingStorageAdapter``.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (StorageCall) -> StorageFault?
    ) -> FaultInjectingStorageAdapter<Self> {
        FaultInjectingStorageAdapter(self, clock: clock, fault: fault)
    }

    /// Lets the first calls fail as a list says; see ``FaultInjectingStorageAdapter``.
    public func failing(
        _ faults: [StorageFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingStorageAdapter<Self> {
        FaultInjectingStorageAdapter(self, clock: clock, faults: faults)
    }
}
