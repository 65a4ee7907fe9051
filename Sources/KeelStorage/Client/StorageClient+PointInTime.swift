public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns a client that reads the store as it was at a time, and writes nothing.
    ///
    /// ```swift
    /// let before = try storage.asOf(receipt.commitTime)
    /// let deleted = try await before.getDocument("notes/1")
    /// ```
    ///
    /// Documents, queries, aggregations, names of collections and typed collections all answer from
    /// that one moment. The time is one of the store's own: a commit's
    /// `CommitReceipt/commitTime`, what ``currentTime()`` returns, or any moment between. It follows the
    /// clock as long as that is right, and never goes back: where the clock has been years ahead, the
    /// times of documents are right again and the store's stay there. A moment
    /// after the store's last change is not settled before the next one: a commit that is under way
    /// may still get a time before it.
    ///
    /// Reads through it throw `StorageError/Code/snapshotTooOld` for a time that the store's
    /// history does not reach back to, and `StorageError/Code/invalidArgument` for one that has
    /// not come yet; writes and transactions throw `StorageError/Code/readOnly`. A listener gets
    /// the one snapshot and never another.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer
    ///   `StorageCapabilities/pointInTimeReads`.
    public func asOf(_ time: Timestamp) throws(StorageError) -> StorageClient {
        try require(.pointInTimeReads, for: "asOf")
        return StorageClient(
            PointInTimeStorageAdapter(upstream: adapter, time: time),
            configuration: configuration,
            preparation: preparation
        )
    }

    /// Returns the time of the store's last change: a client ``asOf(_:)`` it goes on reading what is
    /// there now, whatever is written meanwhile.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer
    ///   `StorageCapabilities/pointInTimeReads`.
    @concurrent
    public func currentTime() async throws(StorageError) -> Timestamp {
        try require(.pointInTimeReads, for: "currentTime")
        var request = ReadRequest(.documents([]))
        request.needsTime = true
        guard let time = try await read(request, for: "currentTime").time else {
            throw StorageError(
                .unsupported,
                "the store keeps no history, or does not tell the time of what it answers",
                operation: "currentTime"
            )
        }
        return time
    }
}

/// The state of a store at one time.
struct PointInTimeStorageAdapter: StorageAdapter {
    let upstream: any StorageAdapter
    let time: Timestamp

    var capabilities: StorageCapabilities {
        // Whatever writes comes as far as the refusal of a commit, which says why.
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
        // A client of the past can go further back.
        request.asOf = request.asOf ?? time
        return try await upstream.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw StorageError(
            .readOnly,
            "the past cannot be changed; write with the client of the present"
        )
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "nothing changes in the past")
    }
}
