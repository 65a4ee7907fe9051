public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns a client that reads the store as of a time and cannot write.
    ///
    /// ```swift
    /// let before = try storage.asOf(receipt.commitTime)
    /// let deleted = try await before.getDocument("notes/1")
    /// ```
    ///
    /// Documents, queries, aggregations, collection names and typed collections all read that one moment. The time
    /// refers to the store's commit times: it is a `CommitReceipt/commitTime`, the result of ``currentTime()``, or
    /// any moment between. Commit times follow the system clock and never go back: after the clock has been years
    /// ahead and is corrected, the times of documents are right again, but commit times stay ahead. The state at a
    /// moment after the store's last change can still change until the next one, because a commit in progress may get
    /// an earlier time.
    ///
    /// Reads throw `StorageError/Code/snapshotTooOld` for a time that the store's history does not reach, and
    /// `StorageError/Code/invalidArgument` for a time in the future. Writes and transactions throw
    /// `StorageError/Code/readOnly`. A listener gets exactly one snapshot.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer
    ///   `StorageCapabilities/pointInTimeReads`.
    public func asOf(_ time: Timestamp) throws(StorageError) -> StorageClient {
        try require(.pointInTimeReads, for: "asOf")
        return StorageClient(
            StorageView(upstream: adapter, kind: .past(time)),
            configuration: configuration,
            preparation: preparation
        )
    }

    /// Returns the commit time of the store's last change.
    ///
    /// A client ``asOf(_:)`` this time keeps reading the current state, whatever is written later.
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
                "the store keeps no history, or does not report commit times",
                operation: "currentTime"
            )
        }
        return time
    }
}
