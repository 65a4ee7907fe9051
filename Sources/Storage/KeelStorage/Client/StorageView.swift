internal import KeelDocuments
internal import KeelStorageAdapting

/// An adapter that reads another one in a certain way, and refuses writes.
struct StorageView: StorageAdapter {
    enum Kind {
        case past(Timestamp)
        /// From a state that was current no longer ago than a duration.
        case stale(Duration)
    }

    let upstream: any StorageAdapter
    let kind: Kind

    var isOfThePast: Bool {
        if case .past = kind { true } else { false }
    }

    private var description: String {
        isOfThePast ? "a client of the past" : "a client that allows staleness"
    }

    var capabilities: StorageCapabilities {
        // Writing capabilities are claimed so that a write reaches `commit`, whose error says why it is refused.
        let reading: StorageCapabilities = [
            .aggregation, .declaredIndexes, .collectionListing, .textSearch, .pointInTimeReads,
        ]
        let writing: StorageCapabilities = [
            .transactions, .idempotentCommits, .replication, .origins,
        ]
        return upstream.capabilities.intersection(reading).union(writing)
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var request = request
        switch kind {
        // A client of the past can read further back.
        case .past(let time): request.asOf = request.asOf ?? time
        case .stale(let duration):
            request.maximumStaleness = request.maximumStaleness ?? duration
        }
        return try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw StorageError(
            .readOnly,
            "\(description) is read-only; write with the original client"
        )
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "\(description) has no change log")
    }
}
